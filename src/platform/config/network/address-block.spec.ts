import { isAddressBlock, within } from './address-block';

describe('a block of addresses', () => {
  it.each(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1', '0.0.0.0/0'])('can be %s', (text) =>
    expect(isAddressBlock(text)).toBe(true),
  );

  it.each([
    '',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '2001:db8::/129',
    'localhost',
  ])('cannot be %j', (text) => expect(isAddressBlock(text)).toBe(false));

  it.each([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['11.1.2.3', ['10.0.0.0/8'], false],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['192.0.2.1', ['198.51.100.0/24', '192.0.2.1'], true],
    ['192.0.2.2', ['192.0.2.1'], false],
    ['2001:db8::5', ['2001:db8::/32'], true],
    ['2001:db9::5', ['2001:db8::/32'], false],
    ['no address', ['0.0.0.0/0'], false],
  ])('contains %s with the blocks %j: %s', (address, blocks, expected) =>
    expect(within(blocks)(address)).toBe(expected),
  );
});
