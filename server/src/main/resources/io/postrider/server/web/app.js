// SPDX-License-Identifier: Apache-2.0
// The frame: where we are, how one goes elsewhere, who is signed in, and the keys.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { APPLICATION, connect, signIn, watchWhileSeen } from './api.js';
import { clean } from './text.js';
import { html, refresh, Tellings, useLive } from './ui.js';
import { Overview } from './pages/overview.js';
import { Events } from './pages/events.js';
import { EventDetail } from './pages/event.js';
import { DeadLetters } from './pages/dead.js';
import { HeldKeys } from './pages/keys.js';
import { Relays } from './pages/relays.js';
import { Streams } from './pages/streams.js';
import { Inbox } from './pages/inbox.js';
import { Problems } from './pages/problems.js';
import { Audit } from './pages/audit.js';

const PAGES = [
  { path: 'overview', title: 'Overview', key: 'o', page: Overview },
  { path: 'events', title: 'Events', key: 'e', page: Events },
  { path: 'dead', title: 'Dead letters', key: 'd', page: DeadLetters, badge: (o) => o.dead },
  { path: 'keys', title: 'Held keys', key: 'k', page: HeldKeys, badge: (o) => o.heldKeys },
  { path: 'relays', title: 'Relays', key: 'r', page: Relays },
  { path: 'streams', title: 'Streams', key: 's', page: Streams },
  { path: 'inbox', title: 'Inbox', key: 'i', page: Inbox },
  { path: 'problems', title: 'Problems', key: 'p', page: Problems },
  { path: 'audit', title: 'Audit', key: 'a', page: Audit },
];
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function where() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [page = '', id] = path.split('/');
  return { page: page || 'overview', id: id && decodeURIComponent(id), query: Object.fromEntries(new URLSearchParams(query)) };
}

function useWhere() {
  const [place, setPlace] = useState(where());
  useEffect(() => {
    const moved = () => { setPlace(where()); window.scrollTo(0, 0); };
    window.addEventListener('hashchange', moved);
    return () => window.removeEventListener('hashchange', moved);
  }, []);
  return place;
}

const THEMES = ['auto', 'light', 'dark'];

function useTheme() {
  const [theme, setTheme] = useState(localStorage.getItem('postrider.theme') || 'auto');
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem('postrider.theme', theme);
    window.dispatchEvent(new Event('postrider-theme'));
  }, [theme]);
  return [theme, () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])];
}

function useKeys(focusSearch, showHelp) {
  useEffect(() => {
    let going = 0;
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      if (event.target.closest('input, textarea, select')) {
        if (event.key === 'Escape') event.target.blur();
        return;
      }
      if (Date.now() - going < 1500) {
        going = 0;
        const page = PAGES.find((each) => each.key === event.key);
        if (page) { location.hash = '#/' + page.path; return; }
      }
      if (event.key === '/') { event.preventDefault(); focusSearch(); }
      else if (event.key === 'g') going = Date.now();
      else if (event.key === '?') showHelp();
      else if (event.key === '.') refresh();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
}

function Help({ close }) {
  const dialog = useRef(null);
  useEffect(() => { dialog.current.showModal(); }, []);
  return html`<dialog ref=${dialog} onClose=${close} class="help"><h2>Keys</h2>
    <dl class="keys">
      <dt><kbd>/</kbd></dt><dd>search</dd>
      ${PAGES.map((each) => html`<dt><kbd>g</kbd> <kbd>${each.key}</kbd></dt><dd>${each.title}</dd>`)}
      <dt><kbd>.</kbd></dt><dd>look again</dd>
      <dt><kbd>?</kbd></dt><dd>this help</dd>
    </dl>
    <div class="buttons"><button class="primary" onClick=${close}>Close</button></div></dialog>`;
}

function SignIn({ scheme, error }) {
  const basic = scheme === 'Basic';
  const [name, setName] = useState('');
  const [secret, setSecret] = useState('');
  const [tried, setTried] = useState(false);
  const form = useRef(null);
  useEffect(() => form.current.querySelector('input').focus(), []);
  const submit = (event) => {
    event.preventDefault();
    signIn(basic ? 'Basic ' + btoa(String.fromCharCode(...new TextEncoder().encode(name + ':' + secret))) : 'Bearer ' + secret);
    setTried(true);
    connect();
  };
  return html`<form class="sign-in" ref=${form} onSubmit=${submit}>
    <${Mark} /><h1>Sign in</h1>
    ${basic && html`<label class="field"><span>Name</span><input name="name" autocomplete="username" value=${name} onInput=${(e) => setName(e.target.value)} /></label>`}
    <label class="field"><span>${basic ? 'Password' : 'Token'}</span><input name="secret" type="password" autocomplete="current-password" value=${secret}
      onInput=${(e) => setSecret(e.target.value)} /></label>
    ${tried && html`<p class="error" role="alert">${error ? clean(error) : 'Nobody is known by this. Try again.'}</p>`}
    <button class="primary" type="submit" disabled=${!secret}>Sign in</button>
  </form>`;
}

/** The application asks whoever loads its pages. */
function SignedOut() {
  return html`<div class="sign-in"><${Mark} /><h1>Sign in</h1>
    <p>Your session with the application has ended.</p>
    <button class="primary" onClick=${() => location.reload()}>Sign in</button></div>`;
}

function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" />
    <path d="M8 11.5h16v10H8z" /><path d="m8.500 12 7.500 5.500L23.500 12" /></svg>`;
}

function Search({ input }) {
  const [text, setText] = useState('');
  const submit = (event) => {
    event.preventDefault();
    const wanted = text.trim();
    if (!wanted) return;
    location.hash = ID.test(wanted) ? '#/events/' + wanted.toLowerCase() : '#/events?key=' + encodeURIComponent(wanted);
    setText('');
    input.current.blur();
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <input ref=${input} type="search" placeholder="Event id or key" aria-label="Search by event id or key" value=${text}
      onInput=${(e) => setText(e.target.value)} /><kbd aria-hidden="true">/</kbd></form>`;
}

function App() {
  const { overview, me, connected, error, signIn: scheme } = useLive();
  const place = useWhere();
  const [theme, nextTheme] = useTheme();
  const [help, setHelp] = useState(false);
  const [menu, setMenu] = useState(false);
  const input = useRef(null);
  useKeys(() => input.current?.focus(), () => setHelp(true));
  useEffect(watchWhileSeen, []);
  useEffect(() => setMenu(false), [place]);
  if (scheme === APPLICATION) return html`<${SignedOut} />`;
  if (scheme) return html`<${SignIn} scheme=${scheme} error=${error} />`;
  const found = PAGES.find((each) => each.path === place.page);
  const Shown = place.page === 'events' && place.id ? EventDetail : found?.page;
  return html`
    <a class="skip" href="#content">Skip to the page</a>
    <header class="bar">
      <button class="menu quiet" aria-label="Menu" aria-expanded=${menu} onClick=${() => setMenu(!menu)}>☰</button>
      <a class="brand" href="#/overview"><${Mark} /><span>Postrider</span></a>
      <${Search} input=${input} />
      <div class="who">
        ${me && html`<span class="muted user" title=${'Role: ' + me.role.toLowerCase()}>${clean(me.name)}</span>`}
        <button class="quiet theme" onClick=${nextTheme} title="Light, dark, or as the system is">${theme}</button>
        <button class="quiet help" aria-label="Keys" title="Keys (?)" onClick=${() => setHelp(true)}>?</button>
      </div>
    </header>
    <nav class=${menu ? 'open' : ''} aria-label="Pages">${PAGES.map((each) => {
      const badge = overview && each.badge ? each.badge(overview) : 0;
      return html`<a href=${'#/' + each.path} aria-current=${each.path === place.page ? 'page' : undefined}>${each.title}
        ${badge ? html`<span class="badge">${badge > 9999 ? '9999+' : badge}</span>` : ''}</a>`;
    })}</nav>
    <div id="content">
      ${!connected && html`<div class="offline" role="alert">${clean(error)} What you see is from before.</div>`}
      ${Shown ? html`<${Shown} key=${place.page + (place.id || '')} query=${place.query} id=${place.id} />`
        : html`<main><h1>There is no such page</h1><p><a href="#/overview">To the overview</a></p></main>`}
    </div>
    <${Tellings} />
    ${help && html`<${Help} close=${() => setHelp(false)} />`}`;
}

render(html`<${App} />`, document.getElementById('app'));
