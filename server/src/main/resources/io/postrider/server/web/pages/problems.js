// SPDX-License-Identifier: Apache-2.0
import { get } from '../api.js';
import { command } from '../text.js';
import { Cli, Foreign, html, Loaded, Page, useLoad } from '../ui.js';

const ORDER = ['PROBLEM', 'WARNING', 'OK'];
const MARKS = { PROBLEM: 'problem', WARNING: 'warning', OK: 'ok' };

export function Problems() {
  const page = useLoad(() => get('problems'), []);
  return html`<${Page} title="Problems" lead="Everything that is known to go wrong, looked at just now."
    actions=${html`<button class="quiet" onClick=${page.reload}>Look again</button>`}>
    <${Loaded} of=${page}>${(data) => {
      const sorted = [...data.findings].sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
      return html`<ul class="findings">${sorted.map((f, i) => html`<li key=${i} class=${MARKS[f.level]}><span class="dot" aria-hidden="true"></span>
        <span class="check-name muted">${f.check}</span><div><p><${Foreign} text=${f.what} /></p>${f.advice && html`<p class="muted"><${Foreign} text=${f.advice} /></p>`}</div></li>`)}</ul>`;
    }}</${Loaded}>
    <${Cli} text=${command('doctor')} /></${Page}>`;
}
