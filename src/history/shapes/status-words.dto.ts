import { ApiProperty } from '@nestjs/swagger';
import { described, INSTANT, INTEGER, nullable, TEXT, UUID } from '../../platform/schema/fields';

/** A status word of the upstream that has no meaning. */
export class StatusWordRecord {
  @ApiProperty({ type: 'string', description: 'The word in lower case, with contacts masked.', example: 'settled_t2' })
  word!: string;
  @described(INTEGER, 'How often it was read, in answers, listings and events. Each reading of a listing counts.')
  times!: number;
  @nullable(UUID, 'A call whose answer has the word. Null if only listings or events have it.')
  call_id!: string | null;
  @nullable(TEXT, "The upstream's reference of a transaction with the word.")
  upstream_ref!: string | null;
  @described(INSTANT, "When it was first read, by the database's clock.") first_seen_at!: Date;
  @described(INSTANT, "When it was last read, by the database's clock.") last_seen_at!: Date;
}

export class StatusWordList {
  @described({ type: [StatusWordRecord] }, 'The most frequent first. At most 200.')
  words!: StatusWordRecord[];
}
