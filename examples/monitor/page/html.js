// Small helpers: elements from text that is never read as HTML, and numbers, times and kinds of events for people.

// el('p', {class: 'hint', onclick: f}, 'text', element, …); attributes that are null or false are left out.
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Writes only what differs, so that live regions speak of nothing else and selections stay.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export const number = (value, digits = 1) => (Number.isFinite(value) ? value.toFixed(digits) : '–');
export const count = (value) => (Number.isFinite(value) ? value.toLocaleString('en') : '–');

export const clock = (ms) => new Date(ms).toLocaleTimeString('en-GB');
export const timeOf = (ms) => el('time', {datetime: new Date(ms).toISOString()}, clock(ms));

export const badge = (words, look) => el('span', {class: 'badge', 'data-look': look}, words);

// Kinds of events: in words, how their badge looks, and what stands at their mark in a plot.
const KINDS = {
  started: ['Started', 'good', 'start'],
  ended: ['Ended', 'idle', 'end'],
  lost: ['Lost', 'bad', 'lost'],
  retry: ['Retry', 'busy', 'retry'],
  alert_raised: ['Alert', 'bad', 'alert'],
  alert_cleared: ['Alert over', 'good', 'clear'],
  sync: ['Sync', 'idle', 'sync'],
  reset: ['Reset', 'busy', 'reset'],
  changed: ['Changed', 'idle', 'change'],
  dropped: ['Dropped', 'busy', 'drop'],
  warning: ['Warning', 'busy', 'warning'],
  file_error: ['File error', 'bad', 'file error'],
};
export function kindOf(kind) {
  const [words, look, mark] = KINDS[kind] || [kind, 'idle', kind];
  return {words, look, mark};
}

// Nanoseconds of a stream as 1:02:03.480.
export function streamTime(ns) {
  if (ns === null || ns === undefined) return '–';
  const ms = Math.round(ns / 1e6);
  const two = (value) => String(Math.floor(value)).padStart(2, '0');
  return `${Math.floor(ms / 3600000)}:${two(ms / 60000 % 60)}:${two(ms / 1000 % 60)}.${String(ms % 1000).padStart(3, '0')}`;
}

export function bytes(value) {
  if (!Number.isFinite(value)) return '–';
  return value < 2 ** 30 ? `${Math.round(value / 2 ** 20)} MiB` : `${(value / 2 ** 30).toFixed(1)} GiB`;
}

// A table, with its caption unless that is null; cells may be texts or elements. The first cell of a row is its heading.
export function table(caption, columns, rows, attributes = {}) {
  return el('table', attributes,
    caption && el('caption', {}, caption),
    el('thead', {}, el('tr', {}, columns.map((text) => el('th', {scope: 'col'}, text)))),
    el('tbody', {}, rows.map(tableRow)));
}
export const tableRow = (cells) =>
  el('tr', {}, cells.map((cell, n) => (n === 0 ? el('th', {scope: 'row'}, cell) : el('td', {}, cell))));
