import { SHOWN_LIMIT_KEYS, ShownLimitKey } from '../../access/clients/limit-keys';
import { LimitsDocument } from '../../access/clients/limits';
import { shownLimit, withLimits } from '../../http/validation/limit-properties';
import { nullable } from '../../platform/schema/fields';
import { CapDto, UsageDto } from './cap';

class OwnUsage extends UsageDto {
  @nullable(CapDto, 'All payments with your ephemeral key, which ends when the cap resets. Null for other keys.')
  total!: CapDto | null;
}

export class LimitsDto extends withLimits<OwnUsage, LimitsDocument<ShownLimitKey>>(
  OwnUsage,
  SHOWN_LIMIT_KEYS,
  shownLimit,
) {}
