// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { get, post } from '../api.js';
import { clean, command, count, rate, span } from '../text.js';
import { Confirm, Empty, Foreign, html, Loaded, Page, Table, Time, useLive, useLoad } from '../ui.js';
import { may } from './dead.js';

const ON_DEAD = { HOLD_KEY: 'holds its key', SKIP: 'is skipped', STOP_STREAM: 'stops the stream' };
const HISTORY = { KEEP: 'kept', NO_PAYLOAD: 'without payloads', OFF: 'off' };

function columns(me, bound, ask) {
  return [
    { title: 'Stream', cell: (s) => html`<a href=${'#/events?stream=' + encodeURIComponent(s.name)}><${Foreign} text=${s.name} /></a>` },
    { title: 'Delivery', cell: (s) => (s.pause ? html`<span class="state paused">paused</span> <span class="muted"><${Time} at=${s.pause.since} /> by <${Foreign} text=${s.pause.by} />: <${Foreign} text=${s.pause.reason} /></span>`
      : s.known ? html`<span class="state published">runs</span>` : html`<span class="state delayed" title="No relay has met it yet">unknown</span>`) },
    { title: 'Group', class: 'p3', cell: (s) => html`<${Foreign} text=${s.group || '–'} />` },
    { title: 'Dead event', class: 'p3', cell: (s) => ON_DEAD[s.onDead] || '–' },
    { title: 'History', class: 'p3', cell: (s) => HISTORY[s.history] || '–' },
    { title: 'Published/s', class: 'number p2', cell: (s) => rate(s.recent ? s.recent.perSecond : 0) },
    { title: 'Pending', class: 'number p2', cell: (s) => count(s.pending, bound) },
    { title: 'Oldest', class: 'number p2', cell: (s) => span(s.oldest) },
    ...(may(me, 'OPERATOR') ? [{ title: '', class: 'number', cell: (s) => s.known && html`<button class="small quiet" onClick=${() => ask(s)}>${s.pause ? 'Resume' : 'Pause'}</button>` }] : []),
  ];
}

function Ask({ stream, close }) {
  const action = stream.pause ? 'resume' : 'pause';
  const act = async (reason) => {
    await post('streams/' + action, { stream: stream.name, reason });
    return `Stream ${stream.name} ${action}d.`;
  };
  return html`<${Confirm} title=${`${stream.pause ? 'Resume' : 'Pause'} ${clean(stream.name)}?`} verb=${stream.pause ? 'Resume' : 'Pause'} act=${act} close=${close}
    text=${stream.pause ? 'All relays deliver it again, oldest events first.' : 'No relay delivers it until it is resumed. What is under way is finished; writers go on appending.'}
    cli=${(reason) => command('streams', action, stream.name, '--as', 'you', '--reason', reason)} />`;
}

export function Streams() {
  const { me, overview } = useLive();
  const page = useLoad(() => get('streams'), [overview?.at]);
  const [asked, setAsked] = useState(null);
  return html`<${Page} title="Streams" lead="How each stream is delivered. A pause holds for all relays at once.">
    <${Loaded} of=${page}>${(data) => html`<${Table} columns=${columns(me, data.bound, setAsked)} rows=${data.streams} id=${(s) => s.name}
      empty=${html`<${Empty} title="No stream yet">A stream appears with its first event.</${Empty}>`} />`}</${Loaded}>
    ${asked && html`<${Ask} stream=${asked} close=${() => setAsked(null)} />`}</${Page}>`;
}
