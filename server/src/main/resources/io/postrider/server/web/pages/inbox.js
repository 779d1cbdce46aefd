// SPDX-License-Identifier: Apache-2.0
import { get } from '../api.js';
import { count } from '../text.js';
import { Empty, Foreign, html, Loaded, Page, Table, Time, useLoad } from '../ui.js';

export function Inbox() {
  const page = useLoad(() => get('inbox'), []);
  return html`<${Page} title="Inbox" lead="What consumers with an inbox in this database have processed, each event once.">
    <${Loaded} of=${page}>${(data) => html`<${Table} rows=${data.consumers} id=${(c) => c.name} columns=${[
      { title: 'Consumer', cell: (c) => html`<${Foreign} text=${c.name} />` },
      { title: 'Processed', class: 'number', cell: (c) => count(c.processed, data.bound) },
      { title: 'Newest seen', class: 'number', cell: (c) => html`<${Time} at=${c.newest} />` },
    ]} empty=${html`<${Empty} title="No consumer has an inbox here">A consumer appears when it processes its first event with inbox.once(…).</${Empty}>`} />`}</${Loaded}></${Page}>`;
}
