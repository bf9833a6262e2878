import { ApiProperty } from '@nestjs/swagger';
import { SCOPES } from '../../operations/scopes';
import { OPERATION_NAMES } from '../../operations/catalogue';
import { ListedClient, ListedKey } from '../../access/clients/listed';
import { UsageDto } from '../limits/cap';

const described = (description: string, schema: object) => ApiProperty({ description, ...schema });
const orNull = (description: string, schema: object) => described(description, { anyOf: [schema, { type: 'null' }] });
const words = (description: string) => described(description, { type: 'array', items: { type: 'string' } });
const INSTANT = { type: 'string', format: 'date-time' };
const USD = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' };
const UUID = { type: 'string', format: 'uuid' };
const COUNT = { type: 'integer' };

export class ClientDto implements ListedClient {
  @described("The client's id.", UUID) id!: string;
  @described('Its name.', { type: 'string', example: 'shop' }) name!: string;
  @described('What its keys may do.', { type: 'array', items: { enum: SCOPES } }) scopes!: string[];
  @orNull('What of the interface it may use; null: all.', { type: 'array', items: { enum: [...OPERATION_NAMES] } })
  operations!: string[] | null;
  @orNull('US dollars a day, UTC.', USD) daily_cap_usd!: string | null;
  @orNull('US dollars a calendar month, UTC.', USD) monthly_cap_usd!: string | null;
  @orNull('US dollars of one item.', USD) max_item_usd!: string | null;
  @orNull('US dollars of one call.', USD) max_call_usd!: string | null;
  @orNull('What is more waits for an approval.', USD) approval_over_usd!: string | null;
  @orNull('Items of one call.', COUNT) max_items!: number | null;
  @orNull('Requests in a minute.', COUNT) requests_per_minute!: number | null;
  @words('Countries that it may pay to; empty: any.') countries!: string[];
  @words('Addresses and CIDR blocks that it may call from; empty: any.') addresses!: string[];
  @words('Web origins whose pages may call; empty: none.') origins!: string[];
  @described('Whether what pays or writes needs an Idempotency-Key.', { type: 'boolean' })
  require_idempotency_key!: boolean;
  @described('When it was made.', INSTANT) created_at!: Date;
  @described('Keys that are neither revoked nor expired.', COUNT) active_keys!: number;
  @ApiProperty({ type: UsageDto, description: 'What it has spent of its caps.' }) usage!: UsageDto;
}

export class NewClientDto extends ClientDto {
  @described('Its first key. It is shown this once, and kept nowhere.', { type: 'string' }) key!: string;
}

export class ClientsDto {
  @ApiProperty({ type: [ClientDto], description: 'By name.' }) clients!: ClientDto[];
}

export class KeyDto implements ListedKey {
  @described("The key's id.", UUID) id!: string;
  @described("The client's name.", { type: 'string' }) client!: string;
  @described('How the key begins and ends.', { type: 'string', example: 'pp_shop_…x7Qa' }) hint!: string;
  @orNull('Whose it is, where it is one person’s.', { type: 'string' }) person!: string | null;
  @described('Whether it is taken.', { enum: ['active', 'revoked', 'expired'] }) state!: ListedKey['state'];
  @described('When it was issued.', INSTANT) created_at!: Date;
  @orNull('Until when it is taken; null: until it is revoked.', INSTANT) expires_at!: Date | null;
  @orNull('When it was revoked.', INSTANT) revoked_at!: Date | null;
  @orNull('When it was last used, to the minute.', INSTANT) last_used_at!: Date | null;
}

export class KeysDto {
  @ApiProperty({ type: [KeyDto], description: 'Oldest first.' }) keys!: KeyDto[];
}

export class NewKeyDto {
  @described("The key's id.", UUID) id!: string;
  @described("The client's name.", { type: 'string' }) client!: string;
  @described('The key. It is shown this once, and kept nowhere.', { type: 'string' }) key!: string;
  @orNull('Whose it is, where it is one person’s.', { type: 'string' }) person!: string | null;
  @orNull('Until when it is taken; null: until it is revoked.', INSTANT) expires_at!: Date | null;
}

export class RevokedKeyDto {
  @described("The key's id.", UUID) id!: string;
  @described('Since when it is not taken.', INSTANT) revoked_at!: Date;
}
