import { maskFilters } from './accesses.service';

describe('a recorded filter', () => {
  it.each([
    ['recipient', '+2348012345678', '+234••••5678'],
    ['recipient', 'ada@example.com', 'a••@example.com'],
    ['recipient', '@AdaLovelace', '••••'],
    ['recipient', ' 2348012345678', '••••'], // An unescaped + in an address.
    ['recipient', 'sub-account-1', '••••'],
    ['recipient_prefix', 'ada.love', '••••'],
    ['recipient_prefix', '+2348', '+234••••'],
    ['recipient_prefix', 'ada@', 'a••@'],
    ['reference', 'for ada@example.com', 'for a••@example.com'],
    ['reference', '2348012345678', '••••'],
    ['reference', 'r-2348012345678', 'r-••••'],
    ['idempotency_key', 'order-2348012345678', 'order-••••'],
    ['idempotency_key', 'order-0801.234.5678', 'order-••••'],
    ['request_id', 'req_234_801-234(5678', 'req_••••'],
    ['call_id', '01a21a82-6101-7683-8221-123456789012', '01a21a82-6101-7683-8221-123456789012'],
    ['actor', '@AdaLovelace', '••••'],
    ['actor', 'clerk-17', '••••'],
    ['actor_source', 'ephemeral', 'ephemeral'],
    ['person_id', '01a21a82-6101-7683-8221-123456789012', '01a21a82-6101-7683-8221-123456789012'],
    ['reference', 'invoice-17', 'invoice-17'],
    ['min_total_usd', '12345678', '12345678'],
    ['from', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z'],
    ['a filter that is new', 'ada@example.com', 'a••@example.com'],
  ])('keeps %s=%s as %s', (name, value, kept) =>
    expect(maskFilters({ [name]: value })).toEqual({ [name]: kept }),
  );
});
