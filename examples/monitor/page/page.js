// The dashboard: fetches the state once a connection stands, then follows the server's events. When the connection is
// lost (or the server restarts) the browser connects again, and the state is fetched anew.
import {bytes, clock, count, el, measure, number, setText, streamTime, table, tableRow} from './html.js';
import {ScoreChart, canDraw} from './score_chart.js';

const KEPT_MS = 6 * 3600 * 1000;
const KEPT_EVENTS = 500;
const LOOKS = {connecting: 'busy', running: 'good', lost: 'bad', repeating: 'idle', ended: 'idle', failed: 'bad'};
const KINDS = {
  started: ['Started', 'good'], ended: ['Ended', 'idle'], lost: ['Lost', 'bad'], retry: ['Retry', 'busy'],
  alert_raised: ['Alert', 'bad'], alert_cleared: ['Alert over', 'good'], sync: ['Sync', 'idle'], reset: ['Reset', 'busy'],
  changed: ['Changed', 'idle'],
  dropped: ['Dropped', 'busy'], warning: ['Warning', 'busy'], file_error: ['File error', 'bad'],
};

const $ = (id) => document.getElementById(id);
let cards = [];
let clockOffset = 0;  // the server's clock minus this one's
let spanMs = 600000;

const keyOf = (channel, name) => JSON.stringify([channel, name]);
const badge = (words, look) => el('span', {class: 'badge', 'data-look': look}, words);
const noRow = (columns) => el('tr', {}, el('td', {colspan: columns, class: 'hint'}, 'None yet'));
const time = (ms) => el('time', {datetime: new Date(ms).toISOString()}, clock(ms));

// ---- a rendition -----------------------------------------------------------------------------------------

class Card {
  constructor(state, number) {
    this.id = `rendition-${number}`;
    this.key = keyOf(state.channel, state.name);
    this.label = `${state.channel} / ${state.name}`;
    this.points = state.points.map(([x, mean, min], n, all) =>
      ({x, mean, min, step: n + 1 < all.length ? Math.min(all[n + 1][0] - x, all[1][0] - all[0][0]) : 1000}));
    this.events = state.events;
    this.worstShown = '';
    this.build(state);
    this.state = state;
    this.show();
  }

  build(state) {
    const heading = `${this.id}-name`;
    this.badges = el('span', {class: 'badges'});
    this.tileBadges = el('span', {class: 'badges'});
    this.tileScore = el('span', {class: 'score'});
    this.tileWindow = el('span', {class: 'hint'});
    this.tile = el('li', {}, el('a', {href: `#${this.id}`},
      el('span', {class: 'name'}, this.label), this.tileBadges, this.tileScore, this.tileWindow));
    this.canvas = el('canvas', {role: 'img'});
    this.pointsTable = table(`Score of ${this.label}`, ['Time', 'Mean', 'Lowest frame'], []);
    this.pointsDetails = el('details', {ontoggle: () => this.showPointsTable()},
      el('summary', {}, 'Score as a table'), this.pointsTable);
    this.facts = el('dl', {class: 'facts'});
    this.factValues = new Map();
    this.pooled = table('Pooled scores and features', ['Name', 'Last', 'Mean', 'Min', 'P1', 'P5', 'Median', 'Max', 'Harmonic', 'Std dev'], []);
    this.worst = table('Worst frames', ['Score', 'Reference', 'Distorted', 'Difference'], [], {class: 'worst'});
    this.eventList = el('ul', {class: 'events'});
    const scrolling = (label, content) => el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label}, content);
    this.caps = el('p', {class: 'hint'});
    this.section = el('section', {class: 'card', id: this.id, 'aria-labelledby': heading, tabindex: -1},
      el('div', {class: 'title'}, el('h3', {id: heading}, state.name), this.badges),
      el('p', {class: 'hint source'}, state.source),
      this.caps,
      canDraw() ? el('div', {class: 'chart'}, this.canvas) : null,
      this.pointsDetails,
      this.facts,
      el('div', {class: 'columns'},
        el('div', {}, this.worst),
        el('div', {},
          scrolling(`Pooled scores of ${this.label}`, this.pooled),
          el('h4', {}, 'Events'),
          scrolling(`Events of ${this.label}`, this.eventList))));
    this.chart = canDraw() ? new ScoreChart(this.canvas) : null;
    if (!this.chart) this.pointsDetails.open = true;
    for (const event of this.events) this.listEvent(event);
    // A chart that is not on the screen need not be drawn.
    this.visible = false;
    this.watcher = new IntersectionObserver((entries) => {
      this.visible = entries[entries.length - 1].isIntersecting;
      this.draw();
    }, {rootMargin: '200px'});
    this.watcher.observe(this.section);
  }

  remove() {
    this.watcher.disconnect();
    if (this.chart) this.chart.destroy();
  }

  update(state) {
    this.state = state;
    for (const [x, mean, min] of state.points) {
      if (this.points.length === 0 || x > this.points[this.points.length - 1].x) this.points.push({x, mean, min, step: 1000});
    }
    while (this.points.length && this.points[0].x < serverNow() - KEPT_MS) this.points.shift();
    this.show();
  }

  happened(event) {
    if (this.events.some((known) => known.id === event.id)) return;
    this.events.push(event);
    if (this.events.length > KEPT_EVENTS) this.events.shift();
    this.listEvent(event);
    this.draw();
  }

  listEvent(event) {
    const [words, look] = KINDS[event.kind] || [event.kind, 'idle'];
    this.eventList.prepend(el('li', {}, time(event.time_ms), badge(words, look), el('span', {}, event.text)));
    while (this.eventList.children.length > KEPT_EVENTS) this.eventList.lastChild.remove();
  }

  alertText() {
    const raised = this.events.filter((event) => event.kind === 'alert_raised').pop();
    return raised ? raised.text : `the score is below ${number(this.state.alert_threshold)}`;
  }

  show() {
    const {state} = this;
    const words = state.state_text[0].toUpperCase() + state.state_text.slice(1);
    const look = LOOKS[state.state] || 'idle';
    for (const place of [this.badges, this.tileBadges]) {
      const wanted = (state.alert ? 'Alert ' : '') + words;
      if (place.textContent === wanted) continue;
      place.replaceChildren(...(state.alert ? [badge('Alert', 'alert'), ' '] : []), badge(words, look));
    }
    this.section.toggleAttribute('data-alert', state.alert);
    this.tile.toggleAttribute('data-alert', state.alert);
    setText(this.tileScore, number(state.score));
    const window = state.window || {};
    setText(this.tileWindow, `mean ${number(window.mean)} · min ${number(window.min)}`);
    setText(this.caps, [state.caps, state.reference && `reference ${state.reference}`].filter(Boolean).join(' · '));
    this.showFacts();
    this.showPooled();
    this.showWorst();
    this.draw();
  }

  showFacts() {
    const {state} = this;
    const {counters} = state;
    const window = state.window || {};
    const facts = {
      'Score': number(state.score),
      'Window mean': number(window.mean),
      'Window min': number(window.min),
      'Window p5': number(window.p5),
      'Frames/s': number(state.fps),
      'Lag': `${number(state.lag_seconds, 2)} s`,
      'Offset': `${number(state.offset_seconds, 3)} s`,
      'Sync': state.sync_state ? `${state.sync_state}, ${Math.round(state.confidence * 100)} %` : 'by time stamps',
      'Compared': count(counters.compared),
      'Dropped': count(counters.skipped),
      'Unmatched': `${count(counters.ref_unmatched)} ref, ${count(counters.dist_unmatched)} dist`,
      'Alerts': count(counters.alerts),
      'Restarts': count(counters.restarts),
      'Back end': state.backend || '–',
      'Model': state.model_source || '–',
    };
    for (const [name, value] of Object.entries(facts)) {
      if (!this.factValues.has(name)) {
        const place = el('dd');
        this.factValues.set(name, place);
        this.facts.append(el('div', {}, el('dt', {}, name), place));
      }
      setText(this.factValues.get(name), value);
    }
    this.factValues.get('Score').title = state.score_name || '';
    this.factValues.get('Back end').title = state.backend_reason;
  }

  showPooled() {
    const {pooled, features} = this.state;
    const isScore = (name) => name === this.state.score_name;
    const names = Object.keys({...pooled, ...features}).sort((a, b) => isScore(b) - isScore(a) || (a < b ? -1 : 1));
    const rows = names.map((name) => {
      const one = pooled[name] || {};
      return tableRow([name, ...[features[name], one.mean, one.min, one.p1, one.p5, one.p50, one.max, one.harmonic_mean, one.stddev].map(measure)]);
    });
    this.pooled.tBodies[0].replaceChildren(...(rows.length ? rows : [noRow(10)]));
  }

  // Rows are renewed only if the frames are others, so that the focus stays where it is.
  showWorst() {
    const {worst} = this.state;
    const shown = worst.map((frame) => frame.id + (frame.reference || '') + (frame.difference || '')).join();
    if (shown === this.worstShown) return;
    this.worstShown = shown;
    const rows = worst.map((frame) => tableRow([
      el('span', {}, el('b', {}, number(frame.score, 2)), time(frame.time_ms), el('span', {class: 'hint', title: 'time in the stream'}, streamTime(frame.stream_time_ns))),
      ...['reference', 'distorted', 'difference'].map((kind) => (frame[kind]
        ? el('button', {class: 'thumbnail', onclick: () => view(this, frame)},
          el('img', {src: frame[kind], width: 120, loading: 'lazy', alt: `${kind} frame of score ${number(frame.score, 2)}, enlarge`}))
        : el('span', {class: 'hint'}, 'no picture'))),
    ]));
    this.worst.tBodies[0].replaceChildren(...(rows.length ? rows : [noRow(4)]));
  }

  shownUntil() {
    const last = this.points.length ? this.points[this.points.length - 1].x + 1000 : serverNow();
    return ['ended', 'failed'].includes(this.state.state) ? last : serverNow();
  }

  draw() {
    if (!this.visible) return;
    const {state} = this;
    const to = this.shownUntil(), from = to - spanMs;
    this.showPointsTable();
    if (!this.chart) return;
    const shown = this.points.filter((point) => point.x >= from);
    const lowest = shown.length ? Math.min(...shown.map((point) => point.min)) : NaN;
    this.canvas.setAttribute('aria-label',
      `Score of ${this.label} over the last ${spanMs / 60000} minutes: now ${number(state.score)}, lowest ${number(lowest)}`);
    this.chart.update({points: this.points, events: this.events, threshold: state.alert_threshold, clear: state.alert_clear, from, to});
  }

  // What the chart shows, in about twenty rows; nobody reads it while it is closed.
  showPointsTable() {
    if (!this.pointsDetails.open) return;
    const to = this.shownUntil(), from = to - spanMs;
    const step = spanMs / 20;
    const rows = [];
    for (let begin = Math.ceil(from / step) * step; begin < to; begin += step) {
      const part = this.points.filter((point) => point.x >= begin && point.x < begin + step);
      if (part.length === 0) continue;
      const mean = part.reduce((sum, point) => sum + point.mean, 0) / part.length;
      rows.push(tableRow([time(begin), number(mean), number(Math.min(...part.map((point) => point.min)))]));
    }
    this.pointsTable.tBodies[0].replaceChildren(...rows.reverse());
  }
}

// ---- the page --------------------------------------------------------------------------------------------

const serverNow = () => Date.now() + clockOffset;

function view(card, frame) {
  const dialog = $('viewer');
  setText($('viewer-title'), `${card.label}: score ${number(frame.score, 2)} at ${streamTime(frame.stream_time_ns)}`);
  dialog.querySelector('.pictures').replaceChildren(...['reference', 'distorted', 'difference'].filter((kind) => frame[kind])
    .map((kind) => el('figure', {}, el('img', {src: frame[kind], alt: `${kind} frame`}), el('figcaption', {}, kind))));
  dialog.showModal();
}

function showAlerts() {
  const alerts = cards.filter((card) => card.state.alert);
  const place = $('alerts');
  for (const line of [...place.children]) {
    if (!alerts.some((card) => card.key === line.dataset.key)) line.remove();
  }
  for (const card of alerts) {
    if ([...place.children].some((line) => line.dataset.key === card.key)) continue;
    place.append(el('p', {class: 'alert', 'data-key': card.key},
      el('b', {}, 'Alert '), el('a', {href: `#${card.id}`}, card.label), ` ${card.alertText()}`));
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
  cards = renditions.map((rendition, n) => new Card(rendition, n));
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
}

function connect() {
  const source = new EventSource('/api/events');
  let ready = false;
  const waiting = [];  // what comes before the state does
  const handle = (apply) => (ready ? apply() : waiting.push(apply));
  source.onopen = async () => {
    ready = false;
    try {
      const response = await fetch('/api/state');
      if (!response.ok) throw new Error(response.statusText);
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
    card.update(state);
    showAlerts();
  }));
  source.addEventListener('happened', (message) => handle(() => {
    const {channel, rendition, event} = JSON.parse(message.data);
    const card = find(channel, rendition);
    if (!card) return;
    card.happened(event);
    if (event.kind !== 'alert_raised') setText($('news'), `${card.label}: ${(KINDS[event.kind] || [event.kind])[0]} ${event.text}`);
  }));
}

for (const choice of document.querySelectorAll('input[name=span]')) {
  choice.addEventListener('change', () => {
    spanMs = Number(choice.value) * 1000;
    for (const card of cards) card.draw();
  });
  if (choice.checked) spanMs = Number(choice.value) * 1000;  // browsers keep the choice when a page is loaded again
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
connect();
