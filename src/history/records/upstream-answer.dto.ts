import { ApiProperty } from '@nestjs/swagger';
import { described, INSTANT, INTEGER, NUMBER, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { RecordUpstreamItem } from './resolution.dto';

export const PHASES = ['queued', 'connecting', 'waiting', 'answering', 'answered'] as const;

/** One attempt to send a request. */
export class RecordTry {
  @described(INSTANT, "When it began, by the proxy's clock.") started_at!: string;
  @described(NUMBER, 'Duration in milliseconds.') ms!: number;
  @ApiProperty({
    enum: PHASES,
    description:
      'How far it got. `queued`: it waited for its turn. `connecting`: it had no connection yet. `waiting`: the upstream may ' +
      'have read it, but did not answer. `answering`: the answer was interrupted. `answered`: the answer is complete.',
  })
  phase!: (typeof PHASES)[number];
  @nullable(INTEGER, 'HTTP status. Null without a complete answer.') status!: number | null;
  @nullable({ ...TEXT, example: 'timeout' }, 'Why there is no usable answer.') failure!: string | null;
}

export class RecordUpstream {
  @nullable(INTEGER, 'HTTP status. Null without an answer.') status!: number | null;
  @nullable({ ...TEXT, example: 'timeout' }, 'Why there is no usable answer.') failure!: string | null;
  @nullable(UUID, 'The call whose cached answer was used. Status, times, and body are from that call.')
  answer_of!: string | null;
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Number of attempts. Only reads are sent more than once.' })
  attempts!: number;
  @ApiProperty({
    type: [RecordTry],
    description: 'Each attempt. Empty for a call with `answer_of`.',
  })
  tries!: RecordTry[];
  @ApiProperty({
    type: [RecordUpstreamItem],
    description: 'Transactions that could not be assigned to an item with certainty.',
  })
  other_items!: RecordUpstreamItem[];
}
