// The dashboard: fetches the state once a connection stands, then follows the server's events. When the connection is
// lost (or the server restarts) the browser connects again, and the state is fetched anew.
import {Card, keyOf, pictureName} from './card.js';
import {bytes, clock, el, kindOf, number, setText, streamTime} from './html.js';
import {canDraw} from './score_chart.js';

const CLOCK_SLACK_MS = 5000;  // a server's clock that goes back by more has been set

const $ = (id) => document.getElementById(id);
let cards = [];
let clockOffset = 0;  // the server's clock minus this one's
const page = {now: () => Date.now() + clockOffset, spanMs: 600000, connected: false, view};

function view(card, frame) {
  const dialog = $('viewer');
  setText($('viewer-title'), `${card.label}: score ${number(frame.score, card.state.score_decimals)} at ${clock(frame.time_ms)}, ${streamTime(frame.stream_time_ns)} in the stream`);
  dialog.querySelector('.pictures').replaceChildren(...['reference', 'distorted', 'difference'].filter((kind) => frame[kind])
    .map((kind) => el('figure', {}, el('img', {src: frame[kind], alt: pictureName(kind, card.state)}), el('figcaption', {}, pictureName(kind, card.state)))));
  dialog.showModal();
}

function showAlerts() {
  const alerts = cards.filter((card) => card.state.alert);
  const notices = cards.flatMap((card) => card.notices().map(([word, why]) => ({card, word, why, key: card.key + word + why})));
  const place = $('alerts');
  for (const line of [...place.children]) {
    if (!notices.some((notice) => notice.key === line.dataset.key)) line.remove();
  }
  for (const {card, word, why, key} of notices) {
    if ([...place.children].some((line) => line.dataset.key === key)) continue;
    place.append(el('p', {class: 'alert', 'data-key': key},
      el('b', {}, `${word} `), el('a', {href: `#${card.id}`}, card.label), ` ${why}`));
  }
  document.title = (alerts.length ? `(${alerts.length}) Alert – ` : '') + 'Video quality monitor';
}

// The cards stay if the renditions are the same ones, and with them what was opened and where the focus is.
function load(state) {
  clockOffset = state.now_ms - Date.now();
  setText($('version'), `vmafhip-monitor ${state.version}, up since ${new Date(state.started_ms).toLocaleString('en-GB')}, ${bytes(state.memory_bytes)}.`);
  const renditions = state.channels.flatMap((channel) => channel.renditions);
  const open = new Set(cards.filter((card) => card.pointsDetails.open).map((card) => card.key));
  const focused = document.activeElement && document.activeElement.closest('.card');
  for (const card of cards) card.remove();
  cards = renditions.map((rendition, n) => new Card(rendition, n, page));
  $('tiles').replaceChildren(...cards.map((card) => card.tile));
  $('channels').replaceChildren(...state.channels.map((channel) => el('section', {'aria-label': `Channel ${channel.name}`},
    el('h2', {}, channel.name),
    cards.filter((card) => card.state.channel === channel.name).map((card) => card.section))));
  for (const card of cards) card.pointsDetails.open ||= open.has(card.key);
  if (focused && $(focused.id)) $(focused.id).focus({preventScroll: true});
  const hint = $('hint');
  hint.hidden = canDraw() && cards.length > 0;
  setText(hint, cards.length === 0 ? 'Nothing is being monitored.'
    : 'Charts need Chart.js: install the Debian package libjs-chart.js on the machine that runs the monitor, then load this page again.');
  showAlerts();
}

const find = (channel, name) => cards.find((card) => card.key === keyOf(channel, name));

function connection(words, look) {
  setText($('connection'), words);
  $('connection').dataset.look = look;
  page.connected = look === 'good';
  for (const card of cards) card.showBadges();
}

function connect() {
  const source = new EventSource('/api/events');
  let ready = false, newest = 0;
  const waiting = [];  // what comes before the state does
  const handle = (apply) => (ready ? apply() : waiting.push(apply));
  source.onopen = async () => {
    ready = false;
    try {
      const response = await fetch('/api/state');
      if (!response.ok) throw new Error(response.statusText);
      page.connected = true;
      load(await response.json());
      ready = true;
      connection('Live', 'good');
      for (const apply of waiting.splice(0)) apply();
    } catch (error) {
      retry();
    }
  };
  // The browser connects again by itself after what it takes for a pause, but not after an answer that was no stream.
  source.onerror = () => {
    connection('Connection lost, trying again', 'bad');
    if (source.readyState === EventSource.CLOSED) retry();
  };
  const retry = () => {
    source.close();
    connection('Connection lost, trying again', 'bad');
    setTimeout(connect, 2000);
  };
  source.addEventListener('rendition', (message) => handle(() => {
    const state = JSON.parse(message.data);
    const card = find(state.channel, state.name);
    if (!card) return;
    if (state.now_ms < newest - CLOCK_SLACK_MS) {  // what is kept has moved with the clock
      source.close();
      connect();
      return;
    }
    newest = state.now_ms;
    clockOffset = newest - Date.now();
    card.update(state);
    showAlerts();
  }));
  source.addEventListener('happened', (message) => handle(() => {
    const {channel, rendition, event} = JSON.parse(message.data);
    const card = find(channel, rendition);
    if (!card) return;
    card.happened(event);
    showAlerts();
    if (event.kind !== 'alert_raised') setText($('news'), `${card.label}: ${kindOf(event.kind).words} ${event.text}`);
  }));
}

for (const choice of document.querySelectorAll('input[name=span]')) {
  choice.addEventListener('change', () => {
    page.spanMs = Number(choice.value) * 1000;
    for (const card of cards) card.draw();
  });
  if (choice.checked) page.spanMs = Number(choice.value) * 1000;  // browsers keep the choice when a page is loaded again
}
$('viewer-close').addEventListener('click', () => $('viewer').close());
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const card of cards) {
    if (card.chart) card.chart.readColours();
    card.draw();
  }
});
// Time goes on where no scores come.
setInterval(() => cards.filter((card) => card.state.state !== 'running').forEach((card) => card.draw()), 2000);
setText($('hint'), 'Waiting for the monitor…');
$('hint').hidden = false;
connect();
