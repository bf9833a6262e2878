import { Injectable } from '@nestjs/common';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { idBefore, Page, rowsToRead, toPage } from '../../platform/schema/page';
import { ShapeRecord, ShapeSearch } from './shapes.dto';

/** Lists the structures of upstream answers, which src/gateway/forwarding/shape-watch.ts records. */
@Injectable()
export class ShapesService {
  constructor(private readonly prisma: ReaderPrisma) {}

  async search(search: ShapeSearch): Promise<Page<ShapeRecord>> {
    const { operation, http_status: httpStatus } = search;
    const before = idBefore(search);
    const rows = await this.prisma.answerShape.findMany({
      where: {
        ...(operation !== undefined && { operation }),
        ...(httpStatus !== undefined && { httpStatus }),
        ...(before !== undefined && { id: { lt: before } }),
      },
      orderBy: { id: 'desc' },
      take: rowsToRead(search),
    });
    const records = rows.map((row) => ({
      id: row.id,
      operation: row.operation,
      http_status: row.httpStatus,
      fingerprint: Buffer.from(row.fingerprint).toString('hex'),
      shape: row.shape,
      first_seen_at: row.firstSeenAt,
      first_call_id: row.firstCallId,
    }));
    return toPage(records, search);
  }
}
