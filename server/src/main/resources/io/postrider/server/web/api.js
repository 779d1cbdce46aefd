// SPDX-License-Identifier: Apache-2.0
// Talks to the server: one function per kind of request, and the live overview that all pages share.

// Where an application has mounted the dashboard, its own session may say who asks.
const CREDENTIALS = 'same-origin';
const MARK = { 'x-postrider': '1' };
// Says that no page is wanted: an application that asks people to sign in shall not bring them to an answer afterwards.
const JSON_ALONE = { accept: 'application/json' };
const SECRET = 'postrider.authorization';
/** Who asks people to sign in, where it is not the dashboard. */
export const APPLICATION = 'application';

export class ApiError extends Error {
  constructor(status, title, detail, scheme) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.scheme = scheme;
  }
}

export function signIn(authorization) {
  if (authorization) sessionStorage.setItem(SECRET, authorization);
  else sessionStorage.removeItem(SECRET);
}

function headers(more) {
  const secret = sessionStorage.getItem(SECRET);
  return { ...MARK, ...JSON_ALONE, ...(secret ? { authorization: secret } : {}), ...more };
}

async function request(path, options) {
  let response;
  try {
    response = await fetch('./api/' + path, { cache: 'no-store', credentials: CREDENTIALS, redirect: 'manual', ...options });
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new ApiError(0, 'The server does not answer', 'The dashboard’s server cannot be reached. It is tried again.');
  }
  if (response.type === 'opaqueredirect') {
    // To a page to sign in on: the API itself sends nobody elsewhere.
    live.set({ signIn: APPLICATION, error: null });
    throw new ApiError(401, 'Signed out', 'Your session with the application has ended.');
  }
  if (!response.ok) {
    let problem = {};
    try { problem = await response.json(); } catch { /* not from this server */ }
    const error = new ApiError(response.status, problem.title || 'Error ' + response.status, problem.detail,
      response.headers.get('x-postrider-scheme'));
    if (error.status === 401) live.set({ signIn: error.scheme || 'Bearer', error: null });
    throw error;
  }
  return response;
}

export function params(values) {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(kept).toString();
  return text ? '?' + text : '';
}

export async function get(path, values = {}, signal) {
  return (await request(path + params(values), { headers: headers(), signal })).json();
}

export async function post(path, body) {
  const options = { method: 'POST', headers: headers({ 'content-type': 'application/json' }), body: JSON.stringify(body) };
  return (await request(path, options)).json();
}

/** What all pages see: the latest overview, the points of the charts, who I am, and whether the server answers. */
export const live = {
  state: { overview: null, points: [], me: null, connected: true, error: null, signIn: null },
  listeners: new Set(),
  set(change) {
    this.state = { ...this.state, ...change };
    this.listeners.forEach((listener) => listener(this.state));
  },
};

const MOST_POINTS = 900;
let watching = null;

export async function connect() {
  watching?.abort();
  const control = new AbortController();
  watching = control;
  let pause = 500;
  while (!control.signal.aborted) {
    try {
      const [me, first] = await Promise.all([get('me', {}, control.signal), get('overview', {}, control.signal)]);
      const { points, ...overview } = first;
      live.set({ me, overview, points, connected: true, error: null, signIn: null });
      pause = 500;
      await watch(control.signal);
    } catch (e) {
      if (control.signal.aborted || e.status === 401) return;
      live.set({ connected: false, error: e.message });
    }
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(pause * 2, 8000);
  }
}

/** A page that nobody sees does not watch: it would hold one of the six connections that a browser has for one server. */
export function watchWhileSeen() {
  const leave = () => { watching?.abort(); watching = null; };
  document.addEventListener('visibilitychange', () => (document.hidden ? leave() : watching || connect()));
  window.addEventListener('pagehide', leave);
  window.addEventListener('pageshow', (event) => event.persisted && connect());
  if (!document.hidden) connect();
}

async function watch(signal) {
  const response = await request('live', { headers: headers({ accept: 'text/event-stream' }), signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split('\n\n');
    text = parts.pop();
    parts.forEach(take);
  }
}

function take(part) {
  const data = part.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)).join('');
  if (!data) return;
  const overview = JSON.parse(data);
  let points = live.state.points;
  if (overview.point && !(points.length && points[points.length - 1][0] >= overview.point[0])) {
    points = [...points.slice(-MOST_POINTS + 1), overview.point];
  }
  live.set({ overview: overview.at ? overview : { ...live.state.overview, ...overview }, points, connected: true, error: null });
}
