import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow, Shows, showsNoPeople } from '../../access/auth/route-access';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { AnswerShape } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { idBefore, rowsToRead, toPage } from '../../platform/schema/page';
import { ApiSummary } from '../../platform/schema/routes';
import { ShapePage, ShapeSearch, StatusWordList, ShapeRecord } from './shapes.dto';

/** Lists the structures of upstream answers, which src/gateway/forwarding/reply/shape-watch.ts records. */
@ApiTags('Audit')
@Controller('v1/audit/shapes')
export class ShapesController {
  constructor(private readonly prisma: ReaderPrisma) {}

  @Get()
  @Allow('audit')
  @Shows(({ shapes }: ShapePage) => showsNoPeople(shapes))
  @ApiSummary(
    "List the shapes of the upstream's answers",
    'One entry for each answer that differs from all earlier answers of its operation and HTTP status: it ' +
      'has a new field or type, or lacks a field that all of them had. At most 100 for each operation.',
  )
  @ApiResponse({ status: 200, type: ShapePage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listAnswerShapes(@Query() search: ShapeSearch): Promise<ShapePage> {
    const { operation, http_status: httpStatus } = search;
    const before = idBefore(search);
    const found = await this.prisma.answerShape.findMany({
      where: {
        ...(operation !== undefined && { operation }),
        ...(httpStatus !== undefined && { httpStatus }),
        ...(before !== undefined && { id: { lt: before } }),
      },
      orderBy: { id: 'desc' },
      take: rowsToRead(search),
    });
    const { rows, nextPageToken } = toPage(found, search);
    return { shapes: rows.map(toRecord), next_page_token: nextPageToken };
  }
}

@ApiTags('Audit')
@Controller('v1/audit/status-words')
export class StatusWordsController {
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: ReaderPrisma,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
  }

  @Get()
  @Allow('audit')
  @Shows(({ words }: StatusWordList) => showsNoPeople(words))
  @ApiSummary(
    'List unknown status words',
    'One entry for each status word of the upstream without a meaning. A transaction with such a word ' +
      'counts neither as paid nor as failed. `UPSTREAM_STATUS_WORDS` gives words a meaning, which removes ' +
      'them from the list.',
  )
  @ApiResponse({ status: 200, type: StatusWordList, description: 'All unknown words.' })
  @ApiKeyProblems()
  async listStatusWords(): Promise<StatusWordList> {
    const rows = await this.prisma.unheardStatus.findMany({ orderBy: [{ times: 'desc' }, { word: 'asc' }] });
    const unheard = rows.filter(({ word }) => this.vocabulary.statusOf(word) === undefined);
    return {
      words: unheard.map((row) => ({
        word: row.word,
        times: Number(row.times),
        call_id: row.callId,
        upstream_ref: row.upstreamRef,
        first_seen_at: row.firstSeenAt,
        last_seen_at: row.lastSeenAt,
      })),
    };
  }
}

function toRecord(row: AnswerShape): ShapeRecord {
  return {
    id: row.id,
    operation: row.operation,
    http_status: row.httpStatus,
    fingerprint: Buffer.from(row.fingerprint).toString('hex'),
    shape: row.shape,
    first_seen_at: row.firstSeenAt,
    first_call_id: row.firstCallId,
  };
}
