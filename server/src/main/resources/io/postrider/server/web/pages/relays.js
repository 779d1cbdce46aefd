// SPDX-License-Identifier: Apache-2.0
import { get } from '../api.js';
import { clean, command, count, span } from '../text.js';
import { Cli, Empty, Foreign, html, Loaded, Page, Table, Time, useLive, useLoad } from '../ui.js';

const WANTS = { SHARDS: 'delivers', CLAIMS: 'works', REST: 'rests', DRAIN: 'drains' };
const TONES = 6;

const COLUMNS = [
  { title: 'Relay', cell: (r) => html`<span class=${'swatch tone' + r.tone}></span> <${Foreign} text=${r.name} />` },
  { title: 'Group', class: 'p3', cell: (r) => html`<${Foreign} text=${r.group} />` },
  { title: 'State', cell: (r) => (r.alive ? html`<span class="state published">${WANTS[r.wants] || clean(r.wants)}</span>` : html`<span class="state dead">silent ${span(r.silentFor)}</span>`) },
  { title: 'Shards', class: 'number', cell: (r) => count(r.shards) },
  { title: 'In flight', class: 'number', cell: (r) => count(r.inFlight) },
  { title: 'Published', class: 'number p2', cell: (r) => count(r.published) },
  { title: 'Last beat', class: 'number p3', cell: (r) => span(r.silentFor) + ' ago' },
  { title: 'Started', class: 'number p2', cell: (r) => html`<${Time} at=${r.startedAt} />` },
  { title: 'Version', class: 'p2', cell: (r) => (r.version ? html`<${Foreign} text=${r.version} />` : html`<span class="none">–</span>`) },
  { title: 'Closed', class: 'p2', cell: (r) => (r.closed.length ? html`<span class="state retrying"><${Foreign} text=${r.closed.join(', ')} /></span>` : html`<span class="none">–</span>`) },
];

function ShardMap({ group, tones }) {
  const owned = group.shards.filter((s) => s.owner !== null).length;
  return html`<section><h2>Shards of group <${Foreign} text=${group.group} /> <small class="muted">${owned} of ${group.shards.length} owned</small></h2>
    <div class="shards" role="img" aria-label=${`${owned} of ${group.shards.length} shards have an owner`}>${group.shards.map((s) => html`
      <span key=${s.shard} class=${'shard ' + (s.owner === null ? 'free' : 'tone' + (tones.get(s.owner) ?? 0)) + (s.unclean >= 3 ? ' careful' : '')}
        title=${`Shard ${s.shard}: ${s.owner === null ? 'no owner' : clean(s.name)}, epoch ${s.epoch}${s.unclean ? ', left without a release ' + s.unclean + ' times' : ''}`}></span>`)}</div>
    <p class="legend muted">${[...tones].filter(([id]) => group.shards.some((s) => s.owner === id)).map(([id, tone]) => html`<span><span class=${'swatch tone' + tone}></span> <${Foreign} text=${group.shards.find((s) => s.owner === id).name} /></span>`)}
      ${owned < group.shards.length && html`<span><span class="swatch free"></span> no owner</span>`}
      ${group.shards.some((s) => s.unclean >= 3) && html`<span><span class="swatch careful"></span> careful: its owners ended without a release</span>`}</p></section>`;
}

export function Relays() {
  const { overview } = useLive();
  const shares = (overview?.relays || []).map((r) => [r.id, r.shards]).join();
  const page = useLoad(() => get('relays'), [shares]);
  return html`<${Page} title="Relays" lead="Who delivers. Each owns a share of the 256 shards; a relay that stops renewing its lease loses them to the others.">
    <${Loaded} of=${page}>${(data) => {
      const fresh = overview?.relays || data.relays;
      const tones = new Map(fresh.map((r, i) => [r.id, i % TONES]));
      const rows = fresh.map((r) => ({ ...r, tone: tones.get(r.id) }));
      return html`<${Table} columns=${COLUMNS} rows=${rows} id=${(r) => r.id}
          empty=${html`<${Empty} title="No relay is running">Nothing is delivered until one is started. Until then, one pass by hand: postrider drain</${Empty}>`} />
        ${data.groups.map((group) => html`<${ShardMap} key=${group.group} group=${group} tones=${tones} />`)}`;
    }}</${Loaded}>
    <${Cli} text=${command('relays')} /></${Page}>`;
}
