// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { get } from '../api.js';
import { command, count } from '../text.js';
import { Cli, Empty, EventLink, Foreign, html, Loaded, Page, State, Table, Time, useLive, useLoad } from '../ui.js';
import { Action, may } from './dead.js';

function columns(me, start) {
  return [
    { title: 'Key', cell: (k) => html`<a href=${`#/events?stream=${encodeURIComponent(k.stream)}&key=${encodeURIComponent(k.key)}`}><${Foreign} text=${k.key} /></a>` },
    { title: 'Stream', class: 'p2', cell: (k) => html`<${Foreign} text=${k.stream} />` },
    { title: 'Held by', cell: (k) => html`<${EventLink} id=${k.event} />` },
    { title: 'State', cell: (k) => html`<${State} state=${k.state} />` },
    { title: 'Behind it', class: 'number', cell: (k) => count(k.behind) + (k.more ? '+' : '') },
    { title: 'Error', class: 'p3', cell: (k) => html`<${Foreign} text=${k.error || '–'} class="ellipsis" />` },
    { title: 'Since', class: 'number p2', cell: (k) => html`<${Time} at=${k.since} />` },
    { title: 'Goes on', class: 'number', cell: (k) => (k.state === 'DEAD' ? may(me, 'OPERATOR')
      ? html`<button class="small quiet" onClick=${() => start('requeue', k)}>Requeue</button> <button class="small quiet" onClick=${() => start('unhold', k)}>Unhold</button>`
      : html`<span class="muted">by hand</span>` : k.state === 'UNKNOWN' ? html`<span class="muted">when known</span>` : html`<${Time} at=${k.retryAt} />`) },
  ];
}

export function HeldKeys({ query }) {
  const { me, overview } = useLive();
  const [asked, setAsked] = useState(null);
  const page = useLoad(() => get('held-keys', query), [JSON.stringify(query), overview?.heldKeys]);
  const start = (action, key) => setAsked({ action, events: [key.event] });
  return html`<${Page} title="Held keys" lead="A failed event holds its key: later events of the key wait, so that their order is kept. All other keys flow.">
    <${Loaded} of=${page}>${(data) => html`<${Table} columns=${columns(me, start)} rows=${data.keys} id=${(k) => k.event}
      empty=${html`<${Empty} title="No key is held">Nothing waits for a failed event.</${Empty}>`} />
      ${data.more && html`<p class="muted">More are held; these are the first ${count(data.keys.length)}.</p>`}`}</${Loaded}>
    <${Cli} text=${command('keys', ...(query.stream ? ['--stream', query.stream] : []))} />
    ${asked && html`<${Action} ...${asked} close=${() => setAsked(null)} />`}</${Page}>`;
}
