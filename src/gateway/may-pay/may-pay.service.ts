import { Injectable } from '@nestjs/common';
import { FenceService } from '../../continuity/fence/fence.service';
import { readStops } from '../../journal/stops/stops';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { problemCodeOf } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';
import { Stop, stopFor } from '../../policy/limits/stops';
import { obstacleProblem } from './obstacle-problem';
import { InstanceObstacle, Reader } from './obstacles';

/**
 * The checks of an act, in the order in which they refuse it:
 * 1. `fence`: this instance may be wrong about the database or the time (FenceService).
 * 2. `space`: outcomes might not fit anywhere (StorageService).
 * 3. `room`: too many requests wait (LoadShedderService). Checked before a body is read.
 * 4. `stop`: an operator has stopped the act. Admissions and approvals check again in their transactions.
 * 5. `circuit`: the upstream fails most requests of the operation. Held and repeated requests skip it.
 */
const CHECKS = {
  /** A request that pays or writes: the first one, an approved call, and a probe of the listing. */
  send: ['fence', 'space', 'room', 'stop', 'circuit'],
  /** The first byte of such a request. The admission checked everything else and reserved its space. */
  first_byte: ['fence'],
  /** The answer to a repeated request. Needs no upstream and no space, but a current database. */
  replay: ['fence'],
  /** A decision that frees money, a key or a held call: too early with an old database or a wrong clock. */
  settle: ['fence'],
  /** A read of the upstream. Changes nothing, but its record takes space. */
  read: ['space', 'room', 'circuit'],
  /** A read without a circuit: a listing, which has connections of its own, or a cached answer. */
  read_without_circuit: ['space'],
} as const satisfies Record<string, InstanceCheck[]>;

type InstanceCheck = 'fence' | 'space' | 'room' | 'stop' | 'circuit';
type Act = keyof typeof CHECKS;

/** A request that could be sent now. */
interface Sendable {
  account: { sendableInSeconds(operation: string, request?: object): number | null };
  /** May become the next probe of an open circuit. Then send it or give it up. */
  outgoing: { operation: string };
}

/** The known facts. A check without its fact is skipped. */
interface Facts {
  /** The refusal of a full load shedder. */
  full?: Extract<InstanceObstacle, { kind: 'no_room' }>;
  /** The stop of the request. */
  stop?: Stop | undefined;
  sendable?: Sendable;
}

/**
 * Decides whether this instance may pay, write, settle or read now. Every path of money passes this check.
 * See docs/internals/decisions/money/0061-one-check-before-money-leaves.md.
 */
@Injectable()
export class MayPay {
  constructor(
    private readonly fence: FenceService,
    private readonly storage: StorageService,
    private readonly prisma: PrismaService,
  ) {}

  /** Returns the first known obstacle to an act. Undefined without one. */
  obstacleTo(act: Act, facts: Facts = {}): InstanceObstacle | undefined {
    for (const check of CHECKS[act]) {
      const obstacle = this.runCheck(check, facts);
      if (obstacle) return obstacle;
    }
    return undefined;
  }

  /** @throws Problem for the first obstacle to an act. */
  require(act: Act, facts: Facts = {}, reader: Reader = 'app'): void {
    const obstacle = this.obstacleTo(act, facts);
    if (obstacle) throw obstacleProblem(obstacle, reader);
  }

  /**
   * Runs all checks of a request without an admission, once it has a permit.
   * @param clientId the client of the call.
   * @throws Problem for the first obstacle.
   */
  async requireSending(clientId: string, sendable: Sendable, reader: Reader): Promise<void> {
    const { operation } = sendable.outgoing;
    const stop = stopFor(await readStops(this.prisma), { clientId, operation });
    this.require('send', { stop, sendable }, reader);
  }

  /**
   * Returns the operations that may not be sent now, by client ID: a stop covers them, or their circuit is
   * open. Asks only. The first obstacle to each call is checked again when it is sent.
   */
  async withheld(
    clientIds: string[],
    account: Sendable['account'],
    operations: readonly string[],
  ): Promise<Map<string, string[]>> {
    const stops = await readStops(this.prisma);
    const broken = operations.filter((operation) => account.sendableInSeconds(operation) !== null);
    const isStopped = (clientId: string, operation: string) => stopFor(stops, { clientId, operation });
    return new Map(
      clientIds.map((clientId) => [
        clientId,
        operations.filter((name) => broken.includes(name) || isStopped(clientId, name)),
      ]),
    );
  }

  private runCheck(check: InstanceCheck, { full, stop, sendable }: Facts): InstanceObstacle | undefined {
    switch (check) {
      case 'fence':
        return this.fence.isRaised ? { kind: 'fenced' } : undefined;
      case 'space':
        return this.storage.obstacle && { kind: 'no_space', code: problemCodeOf(this.storage.obstacle) };
      case 'room':
        return full;
      case 'stop':
        return stop && { kind: 'stopped', stop };
      case 'circuit': {
        const { account, outgoing } = sendable ?? {};
        const retryAfter = (outgoing && account?.sendableInSeconds(outgoing.operation, outgoing)) ?? null;
        return retryAfter === null ? undefined : { kind: 'circuit_open', retryAfter };
      }
    }
  }
}
