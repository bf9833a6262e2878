import { Injectable } from '@nestjs/common';
import { isUtf8 } from 'node:buffer';
import { PersonDocument } from '../../journal/documents';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';
import { ProofsService, ProvedRecord } from './proofs.service';
import { Opening, Receipt, ReceiptRecord } from './receipt.dto';

/** The format that tools/verify-receipt.mjs reads. */
const RECEIPT_FORMAT = 'payout-proxy/receipt/1';

/** Makes receipts: the records of a call, their inclusion proofs, and the committed data of people. */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly proofs: ProofsService,
  ) {}

  /**
   * @param clientId the client that must own the call. Undefined allows any client.
   * @param reveal whether to open commitments. If not, the receipt looks as if people had been erased.
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

  /** Adds openings. Omits a record that was pruned in the meantime. */
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
    const row = await this.prisma.intentBody.findUnique({ where: { intentId } });
    const people = JSON.parse(row?.people ?? '[]') as PersonDocument[];
    const ofPeople = people.flatMap(({ position, salt, ...contacts }) =>
      Object.entries(contacts as Record<string, string>).flatMap(([name, value]) =>
        opening(`items/${position}/${name}_commitment`, Buffer.from(salt, 'hex'), value),
      ),
    );
    return [...ofBody(row), ...ofPeople];
  }
}

function ofBody(row: { salt: Uint8Array | null; body: Uint8Array | null } | null): Opening[] {
  return row?.salt && row.body ? opening('body_commitment', row.salt, row.body) : [];
}

function opening(commitment: string, salt: Uint8Array, value: string | Uint8Array): Opening[] {
  const bytes = Buffer.from(value);
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return [{ commitment, salt: Buffer.from(salt).toString('hex'), value: bytes.toString(encoding), encoding }];
}
