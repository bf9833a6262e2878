import { Controller, Get, Inject } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { Shows, showsNobody } from '../../access/auth/shows';
import { StatusVocabulary } from '../../operations/statuses';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { StatusWordList } from './status-words.dto';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { ApiSummary } from '../../platform/schema/routes';

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
  @Shows(({ words }: StatusWordList) => showsNobody(words))
  @ApiSummary(
    'List the status words that are not understood',
    'One entry for each status word of the upstream that has no meaning. A transaction with such a word ' +
      'counts neither as paid nor as failed. Give the word a meaning with `UPSTREAM_STATUS_WORDS`, and it leaves the list.',
  )
  @ApiResponse({ status: 200, type: StatusWordList, description: 'All of them.' })
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
