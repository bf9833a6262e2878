import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Call, Caller } from '../../access/auth/call';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { DryRun } from '../../journal/dry-run';
import { JournalService } from '../../journal/journal.service';
import { Obstacle } from '../../policy/admission';
import { Item, phonesOf, totalOf } from '../../operations/item';
import { readAllowDuplicateOf } from '../../http/validation/allow-duplicate-of';
import { FaultList } from '../../http/validation/fault-list';
import { readIdempotencyKey } from '../../http/validation/idempotency-key';
import { consider, limitProblems, toProblem } from '../forwarding/asking';
import { Served } from '../forwarding/coverage';
import { CoverageService } from '../forwarding/coverage.service';
import { pointerIn } from '../../operations/items';
import { MovedValueService } from '../forwarding/moved-value.service';
import { movesValue, OperationName } from '../../operations/catalogue';
import { ReplayService } from '../forwarding/replay.service';
import { LocalAmountsService } from './local-amounts.service';
import { duplicatesInside, itemCount, PositionedItem, soundItems, withSuggestions } from './positioned-items';
import { Preview, PreviewReplay } from './preview.dto';
import { toApproval, toCaps, toErrors, toItem, toRefusal, totalOfErrors } from './view';

/** Says what would happen to a request if it was made now. Nothing is sent, claimed, reserved or recorded for it. */
@Injectable()
export class PreviewService {
  constructor(
    private readonly coverage: CoverageService,
    private readonly journal: JournalService,
    private readonly replays: ReplayService,
    private readonly localAmounts: LocalAmountsService,
    private readonly values: MovedValueService,
  ) {}

  /**
   * @param body validated if there are no faults; else as it came.
   * @param found the faults that its validation found.
   */
  async preview(previewing: Call, body: unknown, found = new FaultList()): Promise<Preview> {
    const operation = previewing.previewOf as OperationName;
    const call: Call = { ...previewing, operation, previewOf: undefined };
    const { limits, clientId } = call.caller as Caller;
    const { placed, problem: valueProblem } = await this.withValues(call, soundItems(operation, body, found));
    const whole = found.total === 0;
    const {
      key,
      allowDuplicateOf,
      problems: headerProblems,
    } = readHeaders(call, phonesOf(placed.map(({ item }) => item)));
    // What is not whole has no total, and repeats nothing.
    const content = whole ? { items: placed.map(({ item }) => item), input: body as object, key } : NOTHING;
    const asking = consider(call, { ...content, allowDuplicateOf });
    const [served, dryRun, earlier, local] = await Promise.all([
      this.coverage.listFor(call),
      this.journal.dryRun(asking).catch(databaseUnavailable),
      this.journal.earlierPayments(clientId, placed).catch(databaseUnavailable),
      this.localAmounts.of(call, placed),
    ]);
    const malformed = whole ? [] : [invalid(body, found)];
    const before = [...malformed, ...headerProblems];
    const replayed = before.length === 0 ? await this.replayOf(call, dryRun) : undefined;
    const replay = replayed instanceof Problem ? undefined : replayed;
    // In the order in which the request itself would be refused; what is repeated is not looked at again.
    const problems = replay
      ? []
      : [
          ...before,
          ...(replayed instanceof Problem ? [replayed] : []),
          ...problemsOf(dryRun, ({ kind }) => kind === 'key_reused'),
          ...(valueProblem ? [valueProblem] : limitProblems(call.caller as Caller, operation, ...split(placed))),
          ...notServed(operation, placed, served),
          ...problemsOf(dryRun, ({ kind }) => kind !== 'key_reused'),
        ];
    const waits = dryRun.heldFor === null ? 'be_sent' : 'wait_for_approval';
    const stopped = dryRun.obstacles.find((obstacle) => obstacle.kind === 'stopped');
    return {
      would: replay ? 'be_replayed' : problems.length > 0 ? 'be_refused' : waits,
      refusal: toRefusal(problems),
      replay: replay ?? null,
      errors: toErrors(problems),
      errors_total: totalOfErrors(problems),
      item_count: itemCount(operation, body),
      total_usd: totalOf(content.items)?.toFixed() ?? null,
      fee_usd: null,
      coverage: served instanceof Served ? 'checked' : served,
      approval: replay ? null : toApproval(dryRun.heldFor, limits),
      caps: toCaps(dryRun.budget, replay || !movesValue(operation) ? ZERO : asking.usd),
      stopped: stopped?.stop.reason ?? null,
      items: placed.map((one) => toItem(one, served, local.get(one.position) ?? null)),
      duplicates: [
        ...duplicatesInside(placed),
        ...earlier.map(({ position, callId, paidAt }) => ({
          position,
          kind: 'seen_before',
          call_id: callId,
          paid_at: paidAt,
        })),
      ],
    };
  }

  /** The items with the amounts that the body does not name, or why these could not be found out. */
  private async withValues(
    call: Call,
    placed: PositionedItem[],
  ): Promise<{ placed: PositionedItem[]; problem?: Problem }> {
    try {
      const items = await this.values.fill(call, split(placed)[0]);
      return { placed: placed.map(({ position, item }, place) => ({ position, item: items[place] ?? item })) };
    } catch (problem) {
      if (problem instanceof Problem && problem.code === 'upstream_unreachable') return { placed, problem };
      throw problem;
    }
  }

  /** What a request gets whose key was used for the same; undefined: it is none, or the key has just become free. */
  private async replayOf(call: Call, { obstacles }: DryRun): Promise<PreviewReplay | Problem | undefined> {
    const repeated = obstacles.find(({ kind }) => kind === 'repeated');
    if (repeated?.kind !== 'repeated') return undefined;
    const { firstCallId } = repeated;
    try {
      const reply = await this.replays.find(call, firstCallId);
      if (reply === 'in progress') return new Problem('request_in_progress', { firstCallId });
      return reply && { first_call_id: firstCallId, status: reply.status };
    } catch (problem) {
      if (problem instanceof Problem && problem.firstCallId !== undefined) return problem;
      throw problem;
    }
  }
}

function invalid(body: unknown, { faults, total }: FaultList): Problem {
  return new Problem('invalid_request', { faults: withSuggestions(faults, body), faultsTotal: total });
}

const NOTHING = { items: [], input: undefined, key: null };
const ZERO = new Decimal(0);

interface Headers {
  key: string | null;
  allowDuplicateOf: string | null;
  problems: Problem[];
}

function readHeaders({ idempotencyKey, allowDuplicateOf, caller }: Call, phones: string[]): Headers {
  const problems: Problem[] = [];
  const valueOf = (read: () => string | null) => {
    try {
      return read();
    } catch (problem) {
      problems.push(problem as Problem);
      return null;
    }
  };
  if (idempotencyKey === undefined && caller?.limits.requireIdempotencyKey) {
    problems.push(new Problem('idempotency_key_required'));
  }
  return {
    key: valueOf(() => readIdempotencyKey(idempotencyKey, phones)),
    allowDuplicateOf: valueOf(() => readAllowDuplicateOf(allowDuplicateOf)),
    problems,
  };
}

function problemsOf({ obstacles }: DryRun, wanted: (obstacle: Obstacle) => boolean): Problem[] {
  return obstacles
    .filter(wanted)
    .flatMap((obstacle) => (obstacle.kind === 'repeated' || obstacle.kind === 'barred' ? [] : [toProblem(obstacle)]));
}

function notServed(operation: OperationName, placed: PositionedItem[], served: Served | 'unchecked' | null): Problem[] {
  if (!(served instanceof Served)) return [];
  const [items, positions] = split(placed);
  const pointer = pointerIn(operation);
  const faults = served.faultsIn(items, (place, field) => pointer(positions[place] ?? place, field));
  return faults.length > 0 ? [new Problem('not_served', { faults })] : [];
}

function split(placed: PositionedItem[]): [Item[], number[]] {
  return [placed.map(({ item }) => item), placed.map(({ position }) => position)];
}
