// SPDX-License-Identifier: Apache-2.0
import { get, params } from '../api.js';
import { Empty, EventLink, Foreign, html, Loaded, Page, Table, Time, useLoad } from '../ui.js';

const link = (values) => '#/audit' + params(values);

const COLUMNS = [
  { title: 'When', cell: (a) => html`<${Time} at=${a.at} />` },
  { title: 'Who did what, and why', class: 'wrap', cell: (a) => html`<a href=${link({ who: a.who })}><${Foreign} text=${a.who} /></a> · <a href=${link({ action: a.action })}><${Foreign} text=${a.action} /></a><br />
    <span class="muted"><${Foreign} text=${a.reason} /></span>` },
  { title: 'To', cell: (a) => (a.event ? html`<${EventLink} id=${a.event} />` : html`<a href=${link({ stream: a.stream })}><${Foreign} text=${a.stream} /></a>`) },
  { title: 'Stream', class: 'p2', cell: (a) => html`<${Foreign} text=${a.stream} />` },
];

export function Audit({ query }) {
  const page = useLoad(() => get('audit', query), [JSON.stringify(query)]);
  const { before, ...filter } = query;
  const filtered = Object.entries(filter);
  return html`<${Page} title="Audit" lead=${filtered.length ? html`<span class="crumbs"><a href="#/audit">All</a>${filtered.map(([name, value]) => html` <span class="chip">${name} <${Foreign} text=${value} /></span>`)}</span>`
    : 'Who did what by hand, and why. Entries are written in the same transaction as what they tell of.'}>
    <${Loaded} of=${page}>${(data) => html`<${Table} columns=${COLUMNS} rows=${data.entries} id=${(a) => a.id}
      empty=${html`<${Empty} title="Nobody has changed anything">Requeues, edits, discards, unholds, pauses and resumes appear here.</${Empty}>`} />
      <div class="pager">${before && html`<a href=${link(filter)}>First page</a>`}${data.next && html`<a href=${link({ ...filter, before: data.next })}>Next page</a>`}</div>`}</${Loaded}></${Page}>`;
}
