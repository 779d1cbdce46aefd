// SPDX-License-Identifier: Apache-2.0
// One small chart over time, drawn in the colours of the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { html } from './ui.js';

const LEAST_SPAN = 120;
const GAP = 12;
/** Steps at which an axis of seconds has round names. */
const SECONDS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 432000];

/** Canvas knows no custom properties: a probe tells what they are now. */
function colour(name, alpha = 1) {
  const probe = document.createElement('i');
  probe.style.color = `color-mix(in srgb, var(${name}) ${alpha * 100}%, transparent)`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function short(value, unit) {
  if (unit === 's') return value >= 5400 ? +(value / 3600).toFixed(1) + ' h' : value >= 90 ? +(value / 60).toFixed(1) + ' min' : +value.toFixed(1) + ' s';
  if (unit === 'ms') return value >= 1500 ? +(value / 1000).toFixed(1) + ' s' : +value.toFixed(1) + ' ms';
  if (value >= 1e6) return +(value / 1e6).toFixed(1) + 'M';
  if (value >= 1e3) return +(value / 1e3).toFixed(1) + 'k';
  return String(+value.toFixed(1));
}

/** Where nobody looked there is a gap, not a line. */
function withGaps(points, columns) {
  const data = [[], ...columns.map(() => [])];
  points.forEach((point, i) => {
    const before = points[i - 1];
    if (before && point[0] - before[0] > GAP) {
      data[0].push(before[0] + 1);
      columns.forEach((_, c) => data[c + 1].push(null));
    }
    data[0].push(point[0]);
    columns.forEach((column, c) => data[c + 1].push(point[column]));
  });
  return data;
}

function options(width, height, series, unit) {
  const muted = colour('--muted');
  const axis = {
    stroke: muted, font: '11px system-ui, sans-serif', ticks: { show: false }, border: { show: false },
    grid: { stroke: colour('--line'), width: 1 },
  };
  return {
    width, height, padding: [8, 4, 0, 0], legend: { show: false }, cursor: { show: false },
    scales: {
      x: { time: true, range: (u, low, high) => [Math.min(low, high - LEAST_SPAN), high] },
      y: { range: (u, low, high) => [0, Math.max(high * 1.15, unit === 's' ? 1 : 5)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 90, values: [
        [60, '{HH}:{mm}', null, null, null, null, null, null, 1], [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1]] },
      { ...axis, size: unit ? 54 : 44, space: 34, ...(unit === 's' ? { incrs: SECONDS } : {}), gap: 6, values: (u, splits) => splits.map((v) => (v === null ? '' : short(v, unit))) },
    ],
    series: [{}, ...series.map((one, i) => ({
      stroke: colour('--accent', one.alpha ?? 1), width: i === 0 ? 2 : 1.5, points: { show: false },
      fill: one.fill ? colour('--accent', 0.1) : undefined, dash: one.dash, spanGaps: false,
    }))],
  };
}

export function Chart({ points, series, unit, label }) {
  const box = useRef(null);
  const plot = useRef(null);
  const [theme, setTheme] = useState(0);
  const data = withGaps(points, series.map((one) => one.column));
  useEffect(() => {
    const changed = () => setTheme((n) => n + 1);
    const media = matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', changed);
    window.addEventListener('postrider-theme', changed);
    return () => {
      media.removeEventListener('change', changed);
      window.removeEventListener('postrider-theme', changed);
    };
  }, []);
  useEffect(() => {
    const element = box.current;
    const size = () => ({ width: element.clientWidth, height: element.clientHeight });
    plot.current = new UPlot(options(size().width, size().height, series, unit), data, element);
    const observer = new ResizeObserver(() => plot.current.setSize(size()));
    observer.observe(element);
    return () => { observer.disconnect(); plot.current.destroy(); };
  }, [theme]);
  useEffect(() => { plot.current?.setData(data); }, [points]);
  return html`<div class="chart" ref=${box} role="img" aria-label=${label}></div>`;
}
