// SPDX-License-Identifier: Apache-2.0
import { Chart } from '../charts.js';
import { clean, count, millis, rate, span } from '../text.js';
import { Empty, Failure, Foreign, html, Page, Table, Time, useLive, useNow } from '../ui.js';

const LEVELS = { OK: 'ok', WARNING: 'warning', PROBLEM: 'problem' };

function Condition({ overview }) {
  const now = useNow();
  const [first, ...others] = overview.items;
  const age = overview.at ? Math.max(0, (now - Date.parse(overview.at)) / 1000) : null;
  return html`<section class=${'condition ' + LEVELS[overview.level]} aria-live="polite">
    <span class="dot" aria-hidden="true"></span>
    <div><p class="headline">${first ? html`<a href=${'#/' + first.page}>${clean(first.text)}</a>` : 'All is well.'}</p>
      ${others.length > 0 && html`<ul>${others.slice(0, 6).map((item) => html`<li class=${LEVELS[item.level]}><a href=${'#/' + item.page}>${clean(item.text)}</a></li>`)}
        ${others.length > 6 && html`<li><a href="#/problems">${others.length - 6} more</a></li>`}</ul>`}
    </div>
    <span class="age muted" title="When these numbers were counted">${age === null ? '' : age < 2.5 ? 'live' : 'as of ' + span(age) + ' ago'}</span>
  </section>`;
}

function Card({ title, value, unit, note, children }) {
  return html`<section class="card"><h2>${title}</h2>
    <p class="big"><span>${value}</span>${unit && html` <small>${unit}</small>`}</p>
    <p class="note muted">${note}</p>${children}</section>`;
}

function Charts({ overview, points }) {
  const latency = overview.latency;
  return html`<div class="cards">
    <${Card} title="Published" value=${rate(overview.publishedPerSecond)} unit="/s" note="by all relays">
      <${Chart} points=${points} series=${[{ column: 1, fill: true }]} label="Published per second over time" /></${Card}>
    <${Card} title="Backlog" value=${count(overview.backlog) + (overview.backlogBounded ? '+' : '')} unit="events" note="pending, retrying, delayed and leased">
      <${Chart} points=${points} series=${[{ column: 2, fill: true }]} label="Backlog over time" /></${Card}>
    <${Card} title="Oldest waiting" value=${overview.oldest === null ? 'none' : span(overview.oldest)} note="neither dead nor delayed on purpose">
      <${Chart} points=${points} series=${[{ column: 3, fill: true }]} unit="s" label="Age of the oldest waiting event in seconds over time" /></${Card}>
    <${Card} title="Append to delivery" value=${latency ? millis(latency.p50) : '–'} unit=${latency ? 'median' : ''}
      note=${latency ? `95 %: ${millis(latency.p95)} · 99 %: ${millis(latency.p99)}` : 'nothing delivered in the last minute'}>
      <${Chart} points=${points} series=${[{ column: 4, fill: true }, { column: 5, alpha: 0.6 }, { column: 6, alpha: 0.35, dash: [3, 3] }]}
        unit="ms" label="Median, 95th and 99th percentile of the time from append to delivery in milliseconds over time" /></${Card}>
  </div>`;
}

export const zero = (number, bound) => (number ? count(number, bound) : html`<span class="none">0</span>`);

function streamColumns(bound) {
  return [
    { title: 'Stream', cell: (s) => html`<a href=${'#/events?stream=' + encodeURIComponent(s.name)}><${Foreign} text=${s.name} /></a>${s.pause && html` <span class="state paused" title=${clean(s.pause.by + ': ' + s.pause.reason)}>paused</span>`}` },
    { title: 'Published/s', class: 'number p2', cell: (s) => rate(s.recent ? s.recent.perSecond : 0) },
    { title: 'Pending', class: 'number', cell: (s) => zero(s.pending, bound) },
    { title: 'Retrying', class: 'number p2', cell: (s) => zero(s.retrying) },
    { title: 'Delayed', class: 'number p3', cell: (s) => zero(s.delayed) },
    { title: 'Held keys', class: 'number p3', cell: (s) => (s.heldKeys ? html`<a href=${'#/keys?stream=' + encodeURIComponent(s.name)}>${count(s.heldKeys)}</a>` : zero(0)) },
    { title: 'Dead', class: 'number', cell: (s) => (s.dead ? html`<a class="bad" href=${'#/dead?stream=' + encodeURIComponent(s.name)}>${count(s.dead, bound)}</a>` : zero(0)) },
    { title: 'Oldest', class: 'number', cell: (s) => (s.oldest === null ? html`<span class="none">–</span>` : span(s.oldest)) },
    { title: '95 % within', class: 'number p3', cell: (s) => millis(s.recent?.p95) },
  ];
}

const RELAY = [
  { title: 'Relay', cell: (r) => html`<${Foreign} text=${r.name} />${!r.alive && html` <span class="state dead">silent ${span(r.silentFor)}</span>`}${r.closed.length > 0 && html` <span class="state retrying" title=${clean(r.closed.join(', '))}>destination closed</span>`}` },
  { title: 'Shards', class: 'number', cell: (r) => count(r.shards) },
  { title: 'In flight', class: 'number', cell: (r) => zero(r.inFlight) },
  { title: 'Published', class: 'number p2', cell: (r) => count(r.published) },
  { title: 'Started', class: 'number p2', cell: (r) => html`<${Time} at=${r.startedAt} />` },
];

export function Overview() {
  const { overview, points, error } = useLive();
  if (!overview) {
    return html`<${Page} title="Overview">${error ? html`<${Failure} error=${{ title: 'The server does not answer', message: error }} />` : html`<div class="loading" aria-busy="true"></div>`}</${Page}>`;
  }
  if (!overview.at) return html`<${Page} title="Overview"><${Condition} overview=${overview} /></${Page}>`;
  return html`<${Page} title="Overview">
    <${Condition} overview=${overview} />
    <${Charts} overview=${overview} points=${points} />
    <section><h2>Streams</h2>
      <${Table} columns=${streamColumns(overview.bound)} rows=${overview.streams} id=${(s) => s.name}
        empty=${html`<${Empty} title="No stream yet">A stream appears with its first event. Append one: OutboxEvent.of("order-events", "OrderPlaced") …</${Empty}>`} /></section>
    <section><h2>Relays</h2>
      <${Table} columns=${RELAY} rows=${overview.relays} id=${(r) => r.id}
        empty=${html`<${Empty} title="No relay is running">Nothing is delivered until one is started: Relay.from(OrderedFeed.of(dataSource)) … .start()</${Empty}>`} /></section>
  </${Page}>`;
}
