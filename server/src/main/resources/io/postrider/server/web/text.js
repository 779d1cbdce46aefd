// SPDX-License-Identifier: Apache-2.0
// Values as people read them.

const NUMBER = new Intl.NumberFormat('en');

/** Characters that would be obeyed and not shown: events come from elsewhere, and must not turn the direction of what is read. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export function clean(text) {
  return String(text ?? '').replace(UNSEEN, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

export function count(number, bound) {
  if (number === null || number === undefined) return '–';
  return NUMBER.format(number) + (bound && number >= bound ? '+' : '');
}

export function rate(number) {
  if (number === null || number === undefined) return '–';
  return number >= 100 ? NUMBER.format(Math.round(number)) : number >= 10 ? number.toFixed(0) : number.toFixed(number ? 1 : 0);
}

export function plural(number, one, many) {
  return count(number) + ' ' + (number === 1 ? one : many);
}

/** Seconds in the two largest units. */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  const s = Math.max(0, seconds);
  if (s < 1) return s < 0.1 ? '0 s' : s.toFixed(1) + ' s';
  if (s < 60) return Math.floor(s) + ' s';
  if (s < 3600) return Math.floor(s / 60) + ' min ' + (s < 600 ? Math.floor(s % 60) + ' s' : '').trim();
  if (s < 86400) return Math.floor(s / 3600) + ' h ' + Math.floor((s % 3600) / 60) + ' min';
  return Math.floor(s / 86400) + ' d ' + Math.floor((s % 86400) / 3600) + ' h';
}

export function millis(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 10) return ms.toFixed(1) + ' ms';
  return ms < 1000 ? Math.round(ms) + ' ms' : ms < 60000 ? (ms / 1000).toFixed(ms < 10000 ? 1 : 0) + ' s' : span(ms / 1000);
}

export function relative(iso, now) {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (Math.abs(seconds) < 1.5) return 'now';
  return seconds >= 0 ? span(seconds).trim() + ' ago' : 'in ' + span(-seconds).trim();
}

export function absolute(iso) {
  const at = new Date(iso);
  const two = (n) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:`
    + `${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')} (${at.toISOString()})`;
}

export function bytes(n) {
  return n < 1024 ? n + ' bytes' : n < 1 << 20 ? (n / 1024).toFixed(1) + ' KiB' : (n / (1 << 20)).toFixed(1) + ' MiB';
}

/** One word of a shell command. */
export function quoted(word) {
  return /^[A-Za-z0-9_.:/@%+=-]+$/.test(word) ? word : "'" + String(word).replaceAll("'", "'\\''") + "'";
}

export function command(...words) {
  return 'postrider ' + words.filter((word) => word !== null && word !== undefined).map(quoted).join(' ');
}

/** JSON indented; everything else as it is. */
export function pretty(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? indent(text) : text;
  } catch {
    return text;
  }
}

/** Indents without reading numbers, so that none of their digits is lost. */
function indent(json) {
  let out = '';
  let depth = 0;
  const line = () => '\n' + '  '.repeat(depth);
  const tokens = json.match(/"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
  tokens.forEach((token, i) => {
    const next = tokens[i + 1];
    if (token === '{' || token === '[') {
      if (next === '}' || next === ']') { out += token; } else { depth++; out += token + line(); }
    } else if (token === '}' || token === ']') {
      const before = tokens[i - 1];
      if (before !== '{' && before !== '[') { depth--; out += line(); }
      out += token;
    } else if (token === ',') {
      out += token + line();
    } else {
      out += token === ':' ? ': ' : token;
    }
  });
  return out;
}
