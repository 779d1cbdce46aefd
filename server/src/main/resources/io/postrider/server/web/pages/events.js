// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { get, params } from '../api.js';
import { command, count, millis, span } from '../text.js';
import { Cli, Empty, EventLink, Foreign, html, Loaded, Page, State, Table, Time, useLive, useLoad } from '../ui.js';

const FIELDS = ['stream', 'type', 'key', 'aggregateId', 'error', 'state', 'since', 'until'];
const STATES = { undelivered: ['PENDING', 'RETRYING', 'DELAYED', 'LEASED', 'DEAD', 'UNKNOWN'], history: ['PUBLISHED', 'DISCARDED'] };

const UNDELIVERED = [
  { title: 'Event', cell: (e) => html`<${EventLink} id=${e.event} />` },
  { title: 'State', cell: (e) => html`<${State} state=${e.state} />` },
  { title: 'Stream', class: 'p2', cell: (e) => html`<${Foreign} text=${e.stream} />` },
  { title: 'Type', cell: (e) => html`<${Foreign} text=${e.type} />` },
  { title: 'Key', class: 'p2', cell: (e) => (e.key === null ? html`<span class="none">–</span>` : html`<${Foreign} text=${e.key} />`) },
  { title: 'Error', class: 'p3', cell: (e) => (e.error ? html`<${Foreign} text=${e.error} class="ellipsis" />` : html`<span class="none">–</span>`) },
  { title: 'Attempts', class: 'number p3', cell: (e) => (e.attempts ? count(e.attempts) : html`<span class="none">0</span>`) },
  { title: 'Appended', class: 'number', cell: (e) => html`<${Time} at=${e.createdAt} />` },
];

const HISTORY = [
  { title: 'Event', cell: (e) => html`<${EventLink} id=${e.event} />` },
  { title: 'Outcome', cell: (e) => html`<${State} state=${e.state} />` },
  { title: 'Stream', class: 'p2', cell: (e) => html`<${Foreign} text=${e.stream} />` },
  { title: 'Type', cell: (e) => html`<${Foreign} text=${e.type} />` },
  { title: 'Key', class: 'p2', cell: (e) => (e.key === null ? html`<span class="none">–</span>` : html`<${Foreign} text=${e.key} />`) },
  { title: 'By', class: 'p3', cell: (e) => html`<${Foreign} text=${e.settledBy} />` },
  { title: 'Took', class: 'number p3', cell: (e) => (e.took < 60 ? millis(e.took * 1000) : span(e.took)) },
  { title: 'When', class: 'number', cell: (e) => html`<${Time} at=${e.settledAt} />` },
];

function link(values) {
  return '#/events' + params(values);
}

/** datetime-local has no zone: it is the reader's own. */
function toLocal(iso) {
  if (!iso) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

function Filter({ query }) {
  const { overview } = useLive();
  const [values, setValues] = useState(query);
  useEffect(() => setValues(query), [JSON.stringify(query)]);
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const submit = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(FIELDS.filter((name) => values[name]).map((name) => [name, values[name].trim()]));
    location.hash = link({ ...(query.in ? { in: query.in } : {}), ...given });
  };
  const time = (name) => (event) => setValues({ ...values, [name]: event.target.value ? new Date(event.target.value).toISOString() : '' });
  const input = (name, label) => html`<label class="field"><span>${label}</span><input name=${name} value=${values[name] || ''} onInput=${set(name)} autocomplete="off" /></label>`;
  return html`<form class="filter" onSubmit=${submit}>
    <label class="field"><span>Stream</span><input name="stream" list="streams" value=${values.stream || ''} onInput=${set('stream')} autocomplete="off" /></label>
    <datalist id="streams">${(overview?.streams || []).map((s) => html`<option value=${s.name}></option>`)}</datalist>
    ${input('type', 'Type')}${input('key', 'Key')}${input('aggregateId', 'Aggregate id')}${input('error', 'Error code')}
    <label class="field"><span>State</span><select name="state" value=${values.state || ''} onChange=${set('state')}><option value="">any</option>
      ${STATES[query.in || 'undelivered'].map((s) => html`<option value=${s} selected=${values.state === s}>${s.toLowerCase()}</option>`)}</select></label>
    <label class="field"><span>From</span><input type="datetime-local" name="since" value=${toLocal(values.since)} onInput=${time('since')} /></label>
    <label class="field"><span>To</span><input type="datetime-local" name="until" value=${toLocal(values.until)} onInput=${time('until')} /></label>
    <div class="filter-buttons"><button class="primary" type="submit">Search</button><a class="button quiet" href=${link({ in: query.in })}>Clear</a></div>
  </form>`;
}

function cli(query) {
  return command('events', ...['stream', 'key'].flatMap((name) => (query[name] ? ['--' + name, query[name]] : [])));
}

export function Events({ query }) {
  const { overview } = useLive();
  const history = query.in === 'history';
  const fresh = history || query.after ? 0 : overview?.backlog === 0 ? 0 : overview?.dead;
  const page = useLoad(() => get('events', query), [JSON.stringify(query), fresh]);
  const { in: place, after, ...rest } = query;
  const filtered = Object.keys(rest).length > 0;
  return html`<${Page} title="Events" lead=${html`<span class="tabs" role="tablist">
      <a role="tab" aria-selected=${!history} href=${link({ ...rest, state: '' })}>Undelivered</a>
      <a role="tab" aria-selected=${history} href=${link({ ...rest, state: '', in: 'history' })}>History</a></span>`}>
    <${Filter} query=${query} />
    <${Loaded} of=${page}>${(data) => html`
      <${Table} columns=${history ? HISTORY : UNDELIVERED} rows=${data.events} id=${(e) => e.event + (e.settledAt || '')}
        empty=${data.next ? html`<${Empty} title="Nothing found so far">There is more to search.</${Empty}>`
          : filtered ? html`<${Empty} title="No event matches">${history ? 'It may not be delivered yet, or its history is no longer kept.' : html`It may have been delivered: <a href=${link({ ...rest, state: '', in: 'history' })}>search the history</a>.`}</${Empty}>`
          : html`<${Empty} title=${history ? 'No history yet' : 'Nothing waits'}>${history ? 'What is delivered or discarded appears here, for as long as the history is kept.' : 'Every event that was committed is delivered.'}</${Empty}>`} />
      <div class="pager">${after && html`<a href=${link({ in: place, ...rest })}>First page</a>`}
        ${data.next && html`<a href=${link({ in: place, ...rest, after: data.next })}>${data.events.length ? 'Next page' : 'Search on'}</a>`}</div>`}</${Loaded}>
    ${!history && html`<${Cli} text=${cli(query)} />`}
  </${Page}>`;
}
