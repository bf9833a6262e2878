import { Injectable } from '@nestjs/common';
import { Problem } from '../../platform/errors/problem';
import { SandboxControlService, SandboxListLies, SandboxSettings } from './control.service';
import {
  FeesDto,
  LISTED_TYPES,
  ListingDelayDto,
  ListLiesDto,
  NewEntryDto,
  SandboxLiesDto,
  StatusWordDto,
} from './lies.dto';

const NO_LIES: Partial<SandboxSettings> = {
  feePercent: 0,
  returnsFee: true,
  listedAfterMs: Object.fromEntries(LISTED_TYPES.transactions.map((type) => [type, 0])),
  words: { listed: {}, answered: {}, events: {} },
  lists: {
    transactions: { newest: null, frozenAt: null, withoutTypes: [] },
    entries: { newest: null, frozenAt: null, withoutTypes: [] },
  },
};

/** Sets the sandbox's lies in lists, words and fees, and books unexplained entries. */
@Injectable()
export class SandboxLiesService {
  constructor(private readonly control: SandboxControlService) {}

  async fees({ percent, returned }: FeesDto): Promise<SandboxLiesDto> {
    return toLies(
      await this.control.patchSettings({
        ...(percent !== undefined && { feePercent: percent }),
        ...(returned !== undefined && { returnsFee: returned }),
      }),
    );
  }

  async listingDelay({ type, ms = 0 }: ListingDelayDto): Promise<SandboxLiesDto> {
    return toLies(await this.control.patchSettings({ listedAfterMs: { [type]: ms } }));
  }

  async word({ shown_in: location, status, word }: StatusWordDto): Promise<SandboxLiesDto> {
    const { words } = await this.control.settings();
    const others = Object.entries(words[location]).filter(([key]) => key !== status);
    const lies = Object.fromEntries(word === undefined ? others : [...others, [status, word]]);
    return toLies(await this.control.patchSettings({ words: { [location]: lies } }));
  }

  /** @throws Problem `invalid_request` for a type that the list does not have. */
  async list({ list, newest, frozen, without_types: types }: ListLiesDto): Promise<SandboxLiesDto> {
    const known: readonly string[] = LISTED_TYPES[list];
    if (types?.some((type) => !known.includes(type))) {
      const detail = `must be a list of types of ${list}: ${known.join(', ')}`;
      throw new Problem('invalid_request', { faults: [{ pointer: '/without_types', detail }] });
    }
    const change = {
      ...(newest !== undefined && { newest }),
      ...(frozen !== undefined && { frozenAt: frozen ? 'now' : null }),
      ...(types && { withoutTypes: types.map(toSandbox) }),
    };
    return toLies(await this.control.patchSettings({ lists: { [list]: change } }));
  }

  async end(): Promise<SandboxLiesDto> {
    return toLies(await this.control.patchSettings(NO_LIES));
  }

  /** Books an entry in a wallet of the account that the proxy pays from. */
  async addEntry({ type, wallet, usd }: NewEntryDto): Promise<void> {
    const [ours] = (await this.control.accounts()).filter(({ parent }) => parent === null);
    await this.control.addEntry({ type: toSandbox(type), account: ours?.id, wallet, valueInUSD: usd });
  }
}

export function toLies({ lists, words, ...settings }: SandboxSettings): SandboxLiesDto {
  return {
    fee_percent: settings.feePercent,
    returns_fee: settings.returnsFee,
    listed_after_ms: settings.listedAfterMs,
    words,
    transactions: toList(lists.transactions),
    entries: toList(lists.entries),
  };
}

function toList({ newest, frozenAt, withoutTypes }: SandboxListLies) {
  return {
    newest,
    frozen_at: frozenAt,
    without_types: withoutTypes.map((type) => type.replaceAll('-', '_')),
  };
}

function toSandbox(type: string): string {
  return type.replaceAll('_', '-');
}
