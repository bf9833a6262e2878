import { Injectable } from '@nestjs/common';
import { isUtf8 } from 'node:buffer';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';
import { ProofsService, ProvedRecord } from './proofs.service';
import { Opening, Receipt, ReceiptRecord } from './receipt.dto';

/** What tools/verify-receipt.mjs reads. */
export const RECEIPT_FORMAT = 'payout-proxy/receipt/1';

type Value = string | Uint8Array | null;

/** Makes receipts: a call's records, the proofs that they are in the log, and the people's data that they commit to. */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly proofs: ProofsService,
  ) {}

  /**
   * @param clientId whose call it must be; undefined: anybody's.
   * @param reveal whether it opens what the records commit to: without that, it is as if people had been erased.
   * @throws Problem call_not_found if there is no such call, not_sealed while one of its records is too new.
   */
  async receipt(call: string, clientId: string | undefined, reveal: boolean): Promise<Receipt> {
    const owner = await this.proofs.clientOf(call);
    if (owner === undefined || (clientId ?? owner) !== owner) throw new Problem('call_not_found');
    if ((await this.proofs.unsealed(call)).length > 0) throw new Problem('not_sealed');
    const latest = await this.proofs.latest();
    const records = await this.proofs.prove(call, latest);
    const { name, verifierKey } = this.proofs.verifier();
    return {
      format: RECEIPT_FORMAT,
      call_id: call,
      log: { origin: name, key: verifierKey },
      checkpoint: latest.note,
      records: await Promise.all(records.flatMap((record) => this.withOpenings(call, record, reveal) ?? [])),
    };
  }

  /** A record that was pruned since it was found is left out. */
  private withOpenings(
    call: string,
    { kind, index, record, proof }: ProvedRecord,
    reveal: boolean,
  ): Promise<ReceiptRecord> | undefined {
    if (record === null) return undefined;
    const opened = reveal ? this.openingsOf(call, kind) : Promise.resolve([]);
    return opened.then((openings) => ({ kind, index, record, proof, openings }));
  }

  private async openingsOf(intentId: string, kind: ProvedRecord['kind']): Promise<Opening[]> {
    if (kind === 'outcome') return ofBody(await this.prisma.outcomeBody.findUnique({ where: { intentId } }));
    if (kind !== 'intent') return [];
    const [body, items, recipients] = await Promise.all([
      this.prisma.intentBody.findUnique({ where: { intentId } }),
      this.prisma.intentItem.findMany({
        where: { intentId },
        orderBy: { position: 'asc' },
        select: { position: true },
      }),
      this.prisma.itemRecipient.findMany({ where: { intentId } }),
    ]);
    const byPosition = new Map(recipients.map((recipient) => [recipient.position, recipient]));
    const ofItems = items.flatMap(({ position }, place) => {
      const { salt, email, phone, handle } = byPosition.get(position) ?? {};
      if (!salt) return []; // erased
      const path = (name: string) => `items/${place}/${name}_commitment`;
      const contacts = { email, phone, handle };
      return Object.entries(contacts).flatMap(([name, value]) => opening(path(name), salt, value ?? null));
    });
    return [...ofBody(body), ...ofItems];
  }
}

function ofBody(row: { salt: Uint8Array; body: Uint8Array } | null): Opening[] {
  return row ? opening('body_commitment', row.salt, row.body) : [];
}

function opening(commitment: string, salt: Uint8Array, value: Value): Opening[] {
  if (value === null) return [];
  const bytes = Buffer.from(value);
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return [{ commitment, salt: Buffer.from(salt).toString('hex'), value: bytes.toString(encoding), encoding }];
}
