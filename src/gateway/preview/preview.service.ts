import { Inject, Injectable } from '@nestjs/common';
import { AuthenticatedCall, OperationCall } from '../../access/auth/call';
import { ownerOf } from '../../access/auth/owner';
import { readAllowDuplicateOf, readIdempotencyKey } from '../../http/validation/idempotency-key';
import { guardWindows } from '../../journal/admission/admission-rules';
import { ExpectedFees } from '../../journal/admission/expected-fees';
import { DryRun, readDryRun } from '../../journal/admission/state';
import { OperationName } from '../../operations/catalogue/catalogue';
import { phonesOf } from '../../operations/items/item';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { admissionRequest } from '../forwarding/admission-request';
import { CoverageService } from '../forwarding/coverage/coverage.service';
import { InternalReadsService } from '../forwarding/ownership/internal-reads.service';
import { MovedValueService } from '../forwarding/ownership/moved-value.service';
import { OwnershipService } from '../forwarding/ownership/ownership.service';
import { ReplayService } from '../forwarding/reply/replay.service';
import { requireOwnWallet } from '../forwarding/wallet';
import { MayPay } from '../may-pay/may-pay.service';
import { UpstreamService } from '../upstream/upstream.service';
import { readEarlierPayments } from './earlier-payments';
import { PreviewedBody, PreviewFacts } from './facts';
import { readLocalAmounts } from './local-amounts';
import { PositionedItem, validItems } from './positioned-items';
import { Preview, PreviewReplay } from './preview.dto';
import { toPreview } from './view';

/** Previews a request. Nothing is sent, claimed, reserved, or recorded. */
@Injectable()
export class PreviewService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly coverage: CoverageService,
    private readonly replays: ReplayService,
    private readonly reads: InternalReadsService,
    private readonly values: MovedValueService,
    private readonly ownership: OwnershipService,
    private readonly fees: ExpectedFees,
    private readonly upstream: UpstreamService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async preview(
    previewing: AuthenticatedCall,
    operation: OperationName,
    previewed: PreviewedBody,
  ): Promise<Preview> {
    const call: OperationCall = { ...previewing, operation };
    return toPreview(await this.gatherFacts(call, previewed));
  }

  private async gatherFacts(call: OperationCall, { body, found }: PreviewedBody): Promise<PreviewFacts> {
    const { positioned, valueProblem } = await this.withValues(
      call,
      validItems(call.operation, body, found),
      body,
    );
    const items = positioned.map(({ item }) => item);
    const { idempotencyKey, allowDuplicateOf, headerProblems } = readHeaders(call, phonesOf(items));
    const content = found.total === 0 ? { items, input: body as object, idempotencyKey } : NO_CONTENT;
    const sendableInSeconds = this.upstream.of(call.caller.account).sendableInSeconds(call.operation);
    const request = {
      ...admissionRequest(call, { ...content, allowDuplicateOf, overOwnLimit: false, screening: null }),
      sendableInSeconds,
    };
    const [served, dryRun, earlier, localAmounts] = await Promise.all([
      this.coverage.listFor(call),
      readDryRun(this.prisma, request, { windows: guardWindows(this.settings), fees: this.fees }).catch(
        databaseUnavailable,
      ),
      readEarlierPayments(
        this.prisma,
        { owner: ownerOf(call), limits: call.caller.limits },
        positioned,
      ).catch(databaseUnavailable),
      readLocalAmounts(this.reads, call, positioned),
    ]);
    const isWellFormed = found.total === 0 && headerProblems.length === 0;
    const replay = isWellFormed ? await this.replayOf(call, dryRun, content.input) : undefined;
    return {
      call,
      body,
      found,
      positioned,
      request,
      headerProblems,
      valueProblem,
      dryRun,
      instance: this.mayPay.obstacleTo(replay === undefined ? 'send' : 'replay'),
      replay,
      served,
      earlier,
      localAmounts,
    };
  }

  /** Returns the items with amounts that the body omits, or the refusal to read these. */
  private async withValues(
    call: OperationCall,
    named: PositionedItem[],
    body: unknown,
  ): Promise<Pick<PreviewFacts, 'positioned' | 'valueProblem'>> {
    try {
      requireOwnWallet(this.upstream.of(call.caller.account), call.operation, body);
      await this.ownership.require(call, body);
      const items = await this.values.fill(
        call,
        named.map(({ item }) => item),
      );
      const positioned = named.map(({ position, item }, index) => ({ position, item: items[index] ?? item }));
      return { positioned, valueProblem: undefined };
    } catch (problem) {
      if (!(problem instanceof Problem) || !REFUSING.includes(problem.code)) throw problem;
      return { positioned: named, valueProblem: problem };
    }
  }

  /** Returns the answer to a request with a used key. Undefined if the key is unused or just became free. */
  private async replayOf(
    call: OperationCall,
    { obstacles }: DryRun,
    input: object | undefined,
  ): Promise<PreviewReplay | Problem | undefined> {
    const used = obstacles.find((obstacle) => obstacle.kind === 'repeated' || obstacle.kind === 'key_reused');
    if (!used) return undefined;
    const { firstCallId } = used;
    if (used.kind === 'key_reused') return this.replays.keyReused(call, firstCallId, input);
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

/** Refusals of a request that names a transaction, before its limits are checked. */
const REFUSING: readonly string[] = ['upstream_unreachable', 'object_not_found', 'wallet_not_allowed'];

const NO_CONTENT = { items: [], input: undefined, idempotencyKey: null };

interface PreviewHeaders {
  idempotencyKey: string | null;
  allowDuplicateOf: string | null;
  headerProblems: Problem[];
}

function readHeaders(
  { idempotencyKey, allowDuplicateOf, caller }: OperationCall,
  phones: string[],
): PreviewHeaders {
  const headerProblems: Problem[] = [];
  const valueOf = (read: () => string | null) => {
    try {
      return read();
    } catch (problem) {
      headerProblems.push(problem as Problem);
      return null;
    }
  };
  if (idempotencyKey === undefined && caller.limits.requireIdempotencyKey) {
    headerProblems.push(new Problem('idempotency_key_required'));
  }
  return {
    idempotencyKey: valueOf(() => readIdempotencyKey(idempotencyKey, phones)),
    allowDuplicateOf: valueOf(() => readAllowDuplicateOf(allowDuplicateOf)),
    headerProblems,
  };
}
