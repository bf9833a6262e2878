import { FAULTS } from '../../../src/sandbox/faults/table';
import { isLost, LIE_NAMES, lieOf } from '../simulated/lies';
import { FinishedWave } from '../wave';
import { Arrival, isFreed, isUnverified } from './records';

/** Events required in a meaningful run. */
const EXPECTED = [
  ...Object.keys(FAULTS).map((fault) => `fault ${fault}`),
  ...LIE_NAMES.map((name) => `lie ${name}`),
  ...['succeeded', 'rejected', 'unknown', 'null'].map((outcome) => `outcome ${outcome}`),
  '200',
  'replay',
  'no answer',
  'outcome_unknown',
  'suspected_duplicate',
  'cap_exceeded',
  'stopped',
  'idempotency_key_required',
  'pending_approval',
  'queued',
  'a replay while queued',
  'queue_expired',
  'released',
  'approved',
  'rejected',
  'confirmed',
  'not_executed',
  'confirmed by the list',
  'an unverified error',
  'a released key',
  'a batch of several lost answers',
  'followed to another state',
  'instance_fenced',
  'a call settled during a suspension',
  'too_late',
  'an old database noticed by an instance',
  'a call restored from a copy',
];

/** Returns the batches that several requests have whose answers were lost. */
function sharedBatches(arrivals: Arrival[]): string[] {
  const batches = new Map<string, Set<number>>();
  for (const { lie, number, paid = [] } of arrivals) {
    if (typeof lie !== 'string' || !isLost(lieOf(lie))) continue;
    for (const { issueID } of paid) batches.set(issueID, (batches.get(issueID) ?? new Set()).add(number));
  }
  return [...batches].flatMap(([batch, numbers]) => (numbers.size > 1 ? batch : []));
}

/** Counts the events caused by the schedules. */
export class EventCounts {
  schedules = 0;
  private readonly seen = new Map<string, number>();

  note({ lanes, intents, arrivals, followed, settledSuspended, lost }: FinishedWave): void {
    this.schedules += lanes.length;
    for (let n = 0; n < settledSuspended; n += 1) this.see('a call settled during a suspension');
    if (lost)
      this.see(lost.noticed ? 'an old database noticed by an instance' : 'an old database without losses');
    if (followed > 0) this.see('followed to another state');
    sharedBatches(arrivals).forEach(() => this.see('a batch of several lost answers'));
    for (const { fault, lie } of arrivals) {
      if (lie !== undefined) this.see(lie === null ? 'an honest answer' : `lie ${lie}`);
      else if (fault !== null) this.see(`fault ${fault}`);
    }
    for (const intent of intents) {
      const { outcome, decision, resolution, settledByList, failure } = intent;
      this.see(`outcome ${outcome}`);
      if (isUnverified(intent)) this.see('an unverified error');
      if (intent.recovered) this.see('a call restored from a copy');
      if (isFreed(intent)) this.see('a released key');
      if (settledByList) this.see(`${resolution} by the list`);
      if (decision !== null) this.see(decision);
      if (failure === 'queue_expired') this.see(failure);
      if (resolution !== null) this.see(resolution);
    }
    for (const { response } of lanes.flatMap(({ sent }) => sent)) {
      const { status, headers, json } = response ?? {};
      const isReplay = headers?.has('idempotent-replayed') ?? false;
      if (isReplay) this.see('replay');
      if (isReplay && status === 202) this.see(`a replay while ${String(json?.status)}`);
      this.see(response ? String(json?.code ?? (status === 202 ? json?.status : status)) : 'no answer');
    }
    for (const { response } of lanes.flatMap(({ decided }) => decided)) {
      this.see(`an approver got ${response ? String(response.json.code ?? response.status) : 'nothing'}`);
    }
  }

  /** Returns the missing events. */
  missing(): string[] {
    return EXPECTED.filter((what) => !this.seen.has(what));
  }

  toString(): string {
    const counts = [...this.seen].sort().map(([what, count]) => `${what} ${count}`);
    return `${this.schedules} schedules: ${counts.join(', ')}`;
  }

  private see(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}
