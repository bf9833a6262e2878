import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../../platform/config/config.module';
import { SidePrisma } from '../../platform/database/side-prisma';
import { Problem } from '../../platform/errors/problem';
import { isAmong, readHands } from '../people/requester-names';
import { authorOf, KeyAuthor } from './author';
import { AuthenticatedCall } from './call';

/** The requester of a call. */
export interface Asker {
  clientId: string;
  keyId: string;
  /** Whether a person made the request. */
  isPerson: boolean;
  /** The names of the person, for the client and in the console. An erased one is missing. */
  names: readonly string[];
}

/** Who wants to decide about a request. */
export interface Decider {
  call: AuthenticatedCall;
  /** Who else may know the secret of the key (`readHands`). */
  hands: readonly string[];
  /** Whether a key of nobody in particular decides about nothing. */
  mustBePerson: boolean;
}

/** Finds out who decides. Only the key identifies the decider. */
@Injectable()
export class FourEyesService {
  private readonly mustBePerson: boolean;

  constructor(
    private readonly prisma: SidePrisma,
    config: ConfigService<Loaded, true>,
  ) {
    this.mustBePerson = config.get('settings', { infer: true }).dualControl;
  }

  async deciderOf(call: AuthenticatedCall): Promise<Decider> {
    return { call, hands: await readHands(this.prisma, call.caller.keyId), mustBePerson: this.mustBePerson };
  }

  /** Requires another person than the requester. See {@link requireAnotherPerson}. @throws Problem */
  async require(call: AuthenticatedCall, asked: Asker, text?: string): Promise<KeyAuthor> {
    return requireAnotherPerson(await this.deciderOf(call), asked, text);
  }
}

/**
 * Requires that another person than the requester decides about a call: with another client and another key and, if a person
 * made the request, with the key of another person. With dual control, a person always decides.
 * @throws Problem `own_approval`, `personal_key_required`.
 */
export function requireAnotherPerson({ call, hands, mustBePerson }: Decider, asked: Asker, text?: string): KeyAuthor {
  const { clientId, clientName, keyId, identity } = call.caller;
  const samePerson = isAmong(asked.names, [...hands, identity?.name ?? []].flat());
  if (clientId === asked.clientId || keyId === asked.keyId || samePerson) {
    throw new Problem('own_approval', text === undefined ? {} : { text });
  }
  if (identity === null && (asked.isPerson || mustBePerson)) {
    throw asked.isPerson
      ? new Problem('own_approval', {
          text: `A person made this request, so another person must decide, with a personal key. ${needsPersonalKey(clientName)}`,
        })
      : new Problem('personal_key_required', {
          text: `With dual control, only a person decides about a payment, with a personal key. Nothing was decided. ${needsPersonalKey(clientName)}`,
        });
  }
  return authorOf(call);
}

/** Explains how to get a personal key. */
export function needsPersonalKey(clientName: string): string {
  return `Your key is not a personal key, and X-Actor does not count. The operator can issue a personal key: keys issue --client ${clientName} --person ….`;
}
