// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { get, post } from '../api.js';
import { bytes, clean, command, count, millis, pretty, span } from '../text.js';
import { Cli, Confirm, Copy, Empty, EventLink, Foreign, html, Loaded, Page, State, Table, Time, useLive, useLoad } from '../ui.js';
import { Action, may } from './dead.js';

const WITHOUT = {
  FORBIDDEN: 'Payloads are not shown to viewers.',
  TOMBSTONE: 'No payload: a tombstone.',
  NOT_KEPT: 'The history of this stream is kept without payloads.',
};

function Story({ event }) {
  if (event.waiting) {
    return html`<p class="story"><${State} state=${event.state} /> <span><${Foreign} text=${event.waiting.text} /> Since <${Time} at=${event.waiting.since} />${event.waiting.until && html`, until <${Time} at=${event.waiting.until} />`}.
      ${event.waiting.heldBy && html` It waits behind <${EventLink} id=${event.waiting.heldBy} />.`}</span></p>`;
  }
  return html`<p class="story"><${State} state=${event.state} /> <span>${event.state === 'PUBLISHED' ? 'Delivered' : 'Discarded'} <${Time} at=${event.settledAt} /> by <${Foreign} text=${event.settledBy} />,
    ${' '}${event.took < 60 ? millis(event.took * 1000) : span(event.took)} after it was appended.</span></p>`;
}

function Facts({ event }) {
  const fact = (title, value) => value && html`<div><dt>${title}</dt><dd>${value}</dd></div>`;
  const foreign = (text) => text !== null && text !== undefined && html`<${Foreign} text=${text} />`;
  return html`<dl class="facts">
    ${fact('Stream', html`<a href=${'#/events?stream=' + encodeURIComponent(event.stream)}>${foreign(event.stream)}</a>`)}
    ${fact('Type', foreign(event.type))}
    ${fact('Key', event.key !== null ? html`<a href=${`#/events?stream=${encodeURIComponent(event.stream)}&key=${encodeURIComponent(event.key)}`}>${foreign(event.key)}</a>` : html`<span class="muted">none: ordered with no other</span>`)}
    ${fact('Aggregate', event.aggregateId !== null && html`${foreign(event.aggregateType)} ${foreign(event.aggregateId)}`)}
    ${fact('Appended', html`<${Time} at=${event.createdAt} />`)}
    ${fact('Expires', event.expiresAt && html`<${Time} at=${event.expiresAt} />`)}
    ${fact('Dedup key', foreign(event.dedupKey))}
    ${fact('Attempts', html`${count(event.attempts)}${event.maxAttempts ? ' of ' + event.maxAttempts : ''}`)}
    ${fact('Last error', event.error && html`${foreign(event.error)}`)}
    ${fact('Content type', foreign(event.contentType))}
  </dl>${event.errorMessage && html`<p class="message block"><${Foreign} text=${event.errorMessage} /></p>`}`;
}

function Payload({ event }) {
  const kind = event.payloadKind;
  const text = kind === 'TEXT' ? pretty(event.payload) : event.payload;
  return html`<section><h2>Payload ${event.payloadBytes !== null && event.payloadBytes !== undefined && html`<small class="muted">${bytes(event.payloadBytes)}</small>`}
      ${kind === 'TEXT' && html`<${Copy} text=${event.payload} />`}</h2>
    ${kind === 'TEXT' ? html`${event.payloadRedacted && html`<p class="muted">Some values are hidden by the server’s rules.</p>`}<pre class="payload" dir="ltr">${clean(text)}</pre>`
      : kind === 'BINARY' ? html`<p class="muted">No text; in hexadecimal${event.payloadBytes > 4096 ? ', the beginning' : ''}:</p><pre class="payload hex">${text}</pre>`
      : kind === 'TOO_LARGE' ? html`<p class="muted">Too large to be shown.</p><${Cli} text=${command('dead', 'show', event.event, '--save', 'payload')} />`
      : html`<p class="muted">${WITHOUT[kind] || 'No longer here.'}</p>`}
  </section>`;
}

function Headers({ headers }) {
  const names = Object.keys(headers || {});
  return html`<section><h2>Headers</h2>${names.length ? html`<dl class="facts headers">${names.map((name) => html`<div><dt><${Foreign} text=${name} /></dt><dd>${headers[name] === '[hidden]' ? html`<span class="muted">[hidden]</span>` : html`<${Foreign} text=${headers[name]} />`}</dd></div>`)}</dl>`
    : html`<p class="muted">None.</p>`}</section>`;
}

const ATTEMPTS = [
  { title: 'When', cell: (a) => html`<${Time} at=${a.at} />` },
  { title: 'Relay', class: 'p2', cell: (a) => html`<${Foreign} text=${a.relay} />` },
  { title: 'Error', class: 'wrap', cell: (a) => html`<${Foreign} text=${a.error} /><br /><span class="muted"><${Foreign} text=${a.errorMessage} /></span>` },
];
const AUDIT = [
  { title: 'When', cell: (a) => html`<${Time} at=${a.at} />` },
  { title: 'Who', cell: (a) => html`<${Foreign} text=${a.who} />` },
  { title: 'Did', cell: (a) => html`<${Foreign} text=${a.action} />` },
  { title: 'Why', class: 'wrap', cell: (a) => html`<${Foreign} text=${a.reason} />` },
];
const SETTLED = [
  { title: 'When', cell: (e) => html`<${Time} at=${e.settledAt} />` },
  { title: 'Outcome', cell: (e) => html`<${State} state=${e.state} />` },
  { title: 'By', cell: (e) => html`<${Foreign} text=${e.settledBy} />` },
];

function lines(headers) {
  return Object.entries(headers).map(([name, value]) => name + ': ' + value).join('\n');
}

function parsed(text) {
  const headers = {};
  text.split('\n').filter((line) => line.trim()).forEach((line) => {
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error('A header is written as name: value, not as ' + line);
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  });
  return headers;
}

function EditDialog({ event, close }) {
  const editable = event.payloadKind === 'TEXT' && !event.payloadRedacted;
  const before = { payload: editable ? pretty(event.payload) : '', headers: lines(event.headers || {}) };
  const [payload, setPayload] = useState(before.payload);
  const [headers, setHeaders] = useState(before.headers);
  const act = async (reason) => {
    const body = { revision: event.revision, reason };
    if (editable && payload !== before.payload) body.payload = payload;
    if (headers !== before.headers) body.headers = parsed(headers);
    if (!('payload' in body) && !('headers' in body)) throw new Error('Nothing is changed. To send it as it is, requeue it.');
    await post(`events/${event.event}/edit`, body);
    return 'Edited and requeued.';
  };
  return html`<${Confirm} title="Edit and requeue" verb="Save and requeue" act=${act} close=${close}
    text="It is delivered again as you write it. A consumer that has seen its id before drops it as a duplicate."
    cli=${(reason) => command('dead', 'edit', event.event, '--payload-file', 'payload', '--as', 'you', '--reason', reason)}>
    ${editable ? html`<label class="field"><span>Payload</span><textarea name="payload" class="code" rows="12" spellcheck=${false} value=${payload} onInput=${(e) => setPayload(e.target.value)}></textarea></label>`
      : html`<p class="muted">The payload is not text, or has hidden values; it is edited on the command line.</p>`}
    <label class="field"><span>Headers <em>one per line; [hidden] stays as it is</em></span><textarea name="headers" class="code" rows="4" spellcheck=${false} value=${headers} onInput=${(e) => setHeaders(e.target.value)}></textarea></label>
  </${Confirm}>`;
}

export function EventDetail({ id }) {
  const { me } = useLive();
  const loaded = useLoad(() => get('events/' + encodeURIComponent(id)), [id]);
  const [asked, setAsked] = useState(null);
  const event = loaded.data;
  const dead = event?.state === 'DEAD';
  const start = (action) => setAsked({ action, events: [event.event] });
  const actions = dead && html`${may(me, 'OPERATOR') && html`<button class="primary" onClick=${() => start('requeue')}>Requeue</button>
      ${event.holds && html`<button class="quiet" onClick=${() => start('unhold')}>Unhold</button>`}`}
    ${may(me, 'ADMIN') && html`<button class="quiet" onClick=${() => setAsked('edit')}>Edit</button><button class="quiet danger" onClick=${() => start('discard')}>Discard</button>`}`;
  return html`<${Page} title=${event ? clean(event.type) : 'Event'} lead=${html`<span class="id-line"><code>${clean(id)}</code><${Copy} text=${id} /></span>`} actions=${actions}>
    <${Loaded} of=${loaded}>${(data) => html`
      <${Story} event=${data} /><${Facts} event=${data} />
      <${Payload} event=${data} /><${Headers} headers=${data.headers} />
      <section><h2>Failed attempts</h2><${Table} columns=${ATTEMPTS} rows=${data.failedAttempts} id=${(a) => a.at + a.relay} empty=${html`<p class="muted">None.</p>`} /></section>
      ${data.settled.length > (data.waiting ? 0 : 1) && html`<section><h2>What became of it before</h2><${Table} columns=${SETTLED} rows=${data.settled} id=${(e) => e.settledAt} /></section>`}
      <section><h2>By hand</h2><${Table} columns=${AUDIT} rows=${data.audit} id=${(a) => a.id} empty=${html`<p class="muted">Nobody has done anything with it.</p>`} /></section>
      <${Cli} text=${dead ? command('dead', 'show', data.event) : data.state === 'UNKNOWN' ? command('unknown', 'list', '--stream', data.stream) : command('events', '--id', data.event)} />`}</${Loaded}>
    ${asked === 'edit' ? html`<${EditDialog} event=${event} close=${() => setAsked(null)} />` : asked && html`<${Action} ...${asked} close=${() => setAsked(null)} />`}
  </${Page}>`;
}
