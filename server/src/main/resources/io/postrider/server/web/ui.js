// SPDX-License-Identifier: Apache-2.0
// What pages are made of.
import { h } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import htm from 'htm';
import { live } from './api.js';
import { absolute, clean, relative } from './text.js';

export const html = htm.bind(h);

export function useLive() {
  const [state, setState] = useState(live.state);
  useEffect(() => {
    live.listeners.add(setState);
    setState(live.state);
    return () => live.listeners.delete(setState);
  }, []);
  return state;
}

const clocks = new Set();
setInterval(() => clocks.forEach((tick) => tick(Date.now())), 1000);

export function useNow() {
  const [now, setNow] = useState(Date.now());
  useEffect(() => { clocks.add(setNow); return () => clocks.delete(setNow); }, []);
  return now;
}

/** Loads when the dependencies change; what was there stays until the new is there, so that nothing flickers. */
export function useLoad(load, dependencies) {
  const [state, setState] = useState({ data: null, error: null, loading: true });
  const current = useRef(0);
  const run = useCallback(() => {
    const mine = ++current.current;
    setState((before) => ({ ...before, loading: true }));
    load().then(
      (data) => mine === current.current && setState({ data, error: null, loading: false }),
      (error) => mine === current.current && error.status !== 401
        && setState((before) => ({ data: before.data, error, loading: false })),
    );
  }, dependencies);
  useEffect(run, dependencies);
  useEffect(() => {
    window.addEventListener('postrider-refresh', run);
    return () => window.removeEventListener('postrider-refresh', run);
  }, [run]);
  return { ...state, reload: run };
}

export function refresh() {
  window.dispatchEvent(new Event('postrider-refresh'));
}

/** Text that somebody else wrote: shown as it is, and nothing else. */
export function Foreign({ text, class: cls }) {
  return html`<bdi class=${cls} title=${clean(text)}>${clean(text)}</bdi>`;
}

export function Time({ at, empty = '–' }) {
  const now = useNow();
  if (!at) return html`<span class="muted">${empty}</span>`;
  return html`<time datetime=${at} title=${absolute(at)}>${relative(at, now)}</time>`;
}

const WORDS = {
  PENDING: 'pending', RETRYING: 'retrying', DELAYED: 'delayed', LEASED: 'leased', DEAD: 'dead', UNKNOWN: 'unknown',
  PUBLISHED: 'published', DISCARDED: 'discarded',
};

export function State({ state }) {
  return html`<span class=${'state ' + String(state).toLowerCase()}>${WORDS[state] || clean(state)}</span>`;
}

export function EventLink({ id }) {
  return html`<a class="id" href=${'#/events/' + encodeURIComponent(id)} title=${id}>${id.slice(0, 8)}<span class="rest">${id.slice(8)}</span></a>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p><p class="muted">${children}</p></div>`;
}

export function Failure({ error, retry }) {
  return html`<div class="empty failure" role="alert">
    <p class="empty-title">${clean(error.title || 'Something failed')}</p>
    <p class="muted">${clean(error.message)}</p>
    ${retry && html`<button class="quiet" onClick=${retry}>Try again</button>`}
  </div>`;
}

/** What was loaded, or why it was not. */
export function Loaded({ of, children }) {
  if (of.data) {
    return html`${of.error && html`<${Failure} error=${of.error} retry=${of.reload} />`}${children(of.data)}`;
  }
  if (of.error) return html`<${Failure} error=${of.error} retry=${of.reload} />`;
  return html`<div class="loading" aria-busy="true"></div>`;
}

export function Page({ title, lead, actions, children }) {
  useEffect(() => { document.title = title + ' · Postrider'; }, [title]);
  return html`<main>
    <header class="page"><div><h1>${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>
      ${actions && html`<div class="actions">${actions}</div>`}</header>
    ${children}
  </main>`;
}

export function Table({ columns, rows, id, empty, selected, onSelect }) {
  if (!rows.length) return empty;
  const all = selected && rows.every((row) => selected.has(id(row)));
  const toggle = (key) => {
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    onSelect(next);
  };
  return html`<div class="scroll"><table>
    <thead><tr>
      ${selected && html`<th class="check"><input type="checkbox" aria-label="Select all on this page" checked=${all}
        onChange=${() => onSelect(all ? new Set() : new Set(rows.map(id)))} /></th>`}
      ${columns.map((c) => html`<th class=${c.class || ''} scope="col">${c.title}</th>`)}
    </tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${id(row)} class=${selected?.has(id(row)) ? 'selected' : ''}>
      ${selected && html`<td class="check"><input type="checkbox" aria-label="Select" checked=${selected.has(id(row))}
        onChange=${() => toggle(id(row))} /></td>`}
      ${columns.map((c) => html`<td class=${c.class || ''} data-title=${c.title}>${c.cell(row)}</td>`)}
    </tr>`)}</tbody>
  </table></div>`;
}

export function Copy({ text, label = 'Copy' }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" class="quiet small copy" onClick=${copy}>${done ? 'Copied' : label}</button>`;
}

export function Cli({ text }) {
  return html`<div class="cli"><code>${clean(text)}</code><${Copy} text=${text} /></div>`;
}

/** Tells for a moment what was done. */
export function tell(text) {
  window.dispatchEvent(new CustomEvent('postrider-tell', { detail: text }));
}

export function Tellings() {
  const [text, setText] = useState('');
  useEffect(() => {
    let timer;
    const take = (event) => {
      setText(event.detail);
      clearTimeout(timer);
      timer = setTimeout(() => setText(''), 6000);
    };
    window.addEventListener('postrider-tell', take);
    return () => window.removeEventListener('postrider-tell', take);
  }, []);
  return html`<div class=${'toast' + (text ? ' shown' : '')} role="status" aria-live="polite">${clean(text)}</div>`;
}

/**
 * Asks before something is done. `text` says what and to how many; `act` gets the reason and returns what to tell.
 */
export function Confirm({ title, text, verb, danger, cli, act, close, children, needsReason = true }) {
  const dialog = useRef(null);
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  useEffect(() => {
    dialog.current.showModal();
    dialog.current.querySelector('textarea').focus();
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      tell(await act(reason.trim(), setBusy));
      close();
      refresh();
    } catch (e) {
      setBusy(false);
      setError(e);
    }
  };
  const ready = !busy && (!needsReason || reason.trim());
  return html`<dialog ref=${dialog} onClose=${close} onCancel=${close} class=${danger ? 'danger' : ''}>
    <form method="dialog" onSubmit=${submit}>
      <h2>${title}</h2>
      <p>${text}</p>
      ${children}
      <label class="field"><span>Why <em>goes to the audit table with your name</em></span>
        <textarea name="reason" rows="2" maxlength="2000" value=${reason} onInput=${(e) => setReason(e.target.value)}></textarea></label>
      ${cli && html`<details><summary>The same on the command line</summary><${Cli} text=${cli(reason.trim() || '…')} /></details>`}
      ${error && html`<p class="error" role="alert">${clean(error.message)}</p>`}
      <div class="buttons"><button type="button" class="quiet" onClick=${close}>Cancel</button>
        <button type="submit" class=${danger ? 'bad' : 'primary'} disabled=${!ready}>${typeof busy === 'string' ? busy : verb}</button></div>
    </form>
  </dialog>`;
}
