// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { get, post, params } from '../api.js';
import { clean, command, count, plural } from '../text.js';
import { Confirm, Empty, EventLink, Foreign, html, Loaded, Page, Table, Time, useLive, useLoad } from '../ui.js';

const VERBS = {
  requeue: { title: 'Requeue', done: 'requeued', says: 'delivered again, before all later events of their keys' },
  unhold: { title: 'Unhold', done: 'unheld', says: 'left dead, and later events of their keys go on without them' },
  discard: { title: 'Discard', done: 'discarded', says: 'removed for good, into the history', danger: true },
};

export function may(me, role) {
  const roles = ['VIEWER', 'OPERATOR', 'ADMIN'];
  return me && roles.indexOf(me.role) >= roles.indexOf(role);
}

/** Does it page by page, as the server takes no more at once. */
async function all(action, filter, upTo, reason, progress) {
  let after = 0;
  let changed = 0;
  do {
    const answer = await post('dead-letters/' + action, { all: true, ...filter, upTo, after, reason });
    changed += answer.changed;
    after = answer.next;
    if (after) progress(`${count(changed)} …`);
  } while (after);
  return changed;
}

/** Counts first, then asks, then acts: on the events named, or on all that match. */
export function Action({ action, events, filter, close, onDone }) {
  const verb = VERBS[action];
  const [dry, setDry] = useState(null);
  const target = events ? { events } : { all: true, ...filter };
  useEffect(() => {
    post('dead-letters/' + action, { ...target, dryRun: true }).then(setDry, (error) => setDry({ error }));
  }, []);
  if (!dry) return null;
  if (dry.error) {
    return html`<${Confirm} title=${verb.title} text=${clean(dry.error.message)} verb="Close" needsReason=${false} act=${async () => ''} close=${close} />`;
  }
  const what = dry.more ? count(dry.count) + ' or more dead letters' : plural(dry.count, 'dead letter', 'dead letters');
  const act = async (reason, progress) => {
    const changed = events ? (await post('dead-letters/' + action, { events, reason })).changed
      : await all(action, filter, dry.upTo, reason, progress);
    onDone?.();
    const left = dry.count - changed;
    return `${plural(changed, 'dead letter', 'dead letters')} ${verb.done}.`
      + (left > 0 && !dry.more ? ` ${count(left)} had changed meanwhile.` : '');
  };
  const options = events ? events : ['--all', ...['stream', 'key', 'type', 'error'].flatMap((name) => (filter[name] ? ['--' + name, filter[name]] : []))];
  return html`<${Confirm} title=${`${verb.title} ${what}?`} danger=${verb.danger}
    text=${`${dry.count === 1 && !dry.more ? 'It is' : 'They are'} ${verb.says}.`.replace('their keys', dry.count === 1 && !dry.more ? 'its key' : 'their keys').replace('without them', dry.count === 1 && !dry.more ? 'without it' : 'without them')}
    verb=${dry.more ? verb.title + ' all' : `${verb.title} ${count(dry.count)}`}
    cli=${(reason) => command('dead', action, ...options, '--as', 'you', '--reason', reason)} act=${act} close=${close} />`;
}

function Buttons({ me, start, size = '' }) {
  return html`${may(me, 'OPERATOR') && html`<button class=${'primary ' + size} onClick=${() => start('requeue')}>Requeue</button>
      <button class=${'quiet ' + size} onClick=${() => start('unhold')}>Unhold</button>`}
    ${may(me, 'ADMIN') && html`<button class=${'quiet danger ' + size} onClick=${() => start('discard')}>Discard</button>`}`;
}

function link(filter) {
  return '#/dead' + params(filter);
}

function Groups({ data, me, start }) {
  return html`<div class="groups">${data.groups.map((group) => {
    const filter = { stream: group.stream, type: group.type, error: group.error };
    return html`<article class="group" key=${JSON.stringify(filter)}>
      <div class="group-count"><a href=${link(filter)}>${count(group.count)}</a></div>
      <div class="group-what"><h2><a href=${link(filter)}><${Foreign} text=${group.error || '(no code)'} /></a></h2>
        <p class="message"><${Foreign} text=${group.errorMessage} /></p>
        <p class="muted"><${Foreign} text=${group.type} /> in <${Foreign} text=${group.stream} /> · newest <${Time} at=${group.newest} />, oldest <${Time} at=${group.oldest} />
          ${group.holding > 0 && html` · ${count(group.holding)} ${group.holding === 1 ? 'holds its key' : 'hold their keys'}`}</p></div>
      <div class="group-actions"><${Buttons} me=${me} size="small" start=${(action) => start({ action, filter })} /></div>
    </article>`;
  })}</div>`;
}

const COLUMNS = [
  { title: 'Event', cell: (l) => html`<${EventLink} id=${l.event} />` },
  { title: 'Stream', class: 'p2', cell: (l) => html`<${Foreign} text=${l.stream} />` },
  { title: 'Type', cell: (l) => html`<${Foreign} text=${l.type} />` },
  { title: 'Key', cell: (l) => (l.key === null ? html`<span class="none">–</span>` : html`<${Foreign} text=${l.key} />${l.holds ? html` <span class="state retrying">holds</span>` : ''}`) },
  { title: 'Error', class: 'p2', cell: (l) => html`<${Foreign} text=${l.error} class="ellipsis" />` },
  { title: 'Attempts', class: 'number p3', cell: (l) => count(l.attempts) },
  { title: 'Died', class: 'number', cell: (l) => html`<${Time} at=${l.lastAttemptAt || l.createdAt} />` },
];

function Letters({ filter, query, me, start }) {
  const page = useLoad(() => get('dead-letters', { ...filter, after: query.after }), [JSON.stringify(query)]);
  const [selected, setSelected] = useState(new Set());
  useEffect(() => setSelected(new Set()), [page.data]);
  const events = [...selected];
  return html`<${Loaded} of=${page}>${(data) => html`
    <div class=${'selection' + (events.length ? ' shown' : '')}><span>${plural(events.length, 'event', 'events')} selected</span>
      <div><${Buttons} me=${me} size="small" start=${(action) => start({ action, events })} /></div></div>
    <${Table} columns=${COLUMNS} rows=${data.letters} id=${(l) => l.event} selected=${selected} onSelect=${setSelected}
      empty=${html`<${Empty} title="No dead letter matches">They were requeued or discarded, or never died. <a href="#/dead">Look at all groups</a></${Empty}>`} />
    <div class="pager">${query.after && html`<a href=${link(filter)}>First page</a>`}
      ${data.next && html`<a href=${link({ ...filter, after: data.next })}>Next page</a>`}</div>`}</${Loaded}>`;
}

export function DeadLetters({ query }) {
  const { me, overview } = useLive();
  const [asked, setAsked] = useState(null);
  const filter = Object.fromEntries(['stream', 'type', 'key', 'error'].filter((name) => query[name]).map((name) => [name, query[name]]));
  const filtered = Object.keys(filter).length > 0;
  const groups = useLoad(() => get('dead-letters/groups'), [overview?.dead]);
  const dialog = asked && html`<${Action} ...${asked} close=${() => setAsked(null)} />`;
  if (filtered) {
    return html`<${Page} title="Dead letters" lead=${html`<span class="crumbs"><a href="#/dead">All groups</a>${Object.entries(filter).map(([name, value]) => html` <span class="chip">${name} <${Foreign} text=${value} /></span>`)}</span>`}
      actions=${html`<span class="muted">All that match:</span><${Buttons} me=${me} start=${(action) => setAsked({ action, filter })} />`}>
      <${Letters} filter=${filter} query=${query} me=${me} start=${setAsked} />${dialog}</${Page}>`;
  }
  return html`<${Page} title="Dead letters" lead="Events that are not tried again unless a person says so, by what they failed with.">
    <${Loaded} of=${groups}>${(data) => (data.groups.length
      ? html`<${Groups} data=${data} me=${me} start=${setAsked} />${data.more && html`<p class="muted">Only the first ${count(data.count)} were looked at.</p>`}`
      : html`<${Empty} title="No dead letters">Everything was delivered, or still is being tried.</${Empty}>`)}</${Loaded}>
    ${dialog}</${Page}>`;
}
