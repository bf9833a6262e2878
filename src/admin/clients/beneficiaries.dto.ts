import { described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { LONG_PAGE, nextPageToken, PageRequest } from '../../platform/schema/page';
import { MAX_AT_ONCE } from '../../access/clients/beneficiaries.service';
import { ListedBeneficiary, REGISTER_LISTS, RegisterChanged, RegisterList } from '../../access/clients/register-writes';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { OneOf, PageSize, PageToken } from '../../http/validation/query-rules';
import { Text, WordList } from '../../http/validation/rules';

const MAX_LENGTH = 320;

const Recipients = (description: string) =>
  WordList(
    {
      required: false,
      must: `must be a list of at most ${MAX_AT_ONCE} texts of at most ${MAX_LENGTH} characters`,
      test: (value) =>
        Array.isArray(value) &&
        value.length <= MAX_AT_ONCE &&
        value.every((text) => typeof text === 'string' && text.length <= MAX_LENGTH),
    },
    { items: { type: 'string' }, maxItems: MAX_AT_ONCE, description, example: ['+254712345678', 'ada@example.com'] },
  );

@NotForwarded()
export class ChangeBeneficiariesDto {
  @OneOf(REGISTER_LISTS, 'The list. `blocked` wins over `allowed`.', { required: true }) list!: RegisterList;
  @Recipients('Email addresses, phone numbers, handles, or `receiver:` and the ID of a sub-account.')
  add?: string[];
  @Recipients('The same, or IDs of entries.') remove?: string[];
  @Text({ max: 1_000, required: false, description: 'Reason for the change, which is recorded.' }) reason?: string;
}

export class BeneficiarySearch implements PageRequest {
  @OneOf(REGISTER_LISTS, 'Only this list.') list?: RegisterList;
  @PageSize(LONG_PAGE) page_size?: number;
  @PageToken() page_token?: string;
}

export class BeneficiaryDto implements ListedBeneficiary {
  @described(UUID, 'ID of the entry.') id!: string;
  @described({ enum: REGISTER_LISTS }, 'Its list.') list!: RegisterList;
  @nullable(TEXT, 'Masked. Null: erased.')
  recipient!: string | null;
  @described(INSTANT, 'When it was registered.') registered_at!: Date;
}

export class ChangedBeneficiariesDto implements RegisterChanged {
  @described({ type: [BeneficiaryDto] }, 'The entries of `add`.') added!: BeneficiaryDto[];
  @described({ type: [BeneficiaryDto] }, 'Entries that are gone.') removed!: BeneficiaryDto[];
}

export class BeneficiaryPage {
  @described({ type: [BeneficiaryDto] }, 'Oldest first.') beneficiaries!: BeneficiaryDto[];
  @nextPageToken() next_page_token!: string | null;
}
