import { KeyGuessing, networkOf, WRONG_KEYS_ALLOWED } from './key-guessing';

const HERE = '192.0.2.1';
const MINUTE = 60_000;

describe('KeyGuessing', () => {
  let now: number;
  let guessing: KeyGuessing;

  beforeEach(() => {
    now = 5_000;
    guessing = new KeyGuessing(() => now);
  });

  /** `invalid_key`, or the seconds to wait. */
  const guess = (address = HERE) => {
    const { code, status, retryAfter } = guessing.problemOf(address);
    expect([code, status]).toEqual(
      retryAfter === undefined ? ['invalid_key', 401] : ['too_many_attempts', 429],
    );
    return retryAfter ?? code;
  };
  const guessOften = (times: number, address = HERE) => {
    for (let wrong = 0; wrong < times; wrong++) guess(address);
  };

  it('answers 401 up to the allowed number of wrong keys per address, then 429', () => {
    guessOften(WRONG_KEYS_ALLOWED - 1);
    expect(guess()).toBe('invalid_key');
    expect(guess()).toBe(60);
    expect(guess('192.0.2.2')).toBe('invalid_key');
  });

  it('answers 401 again a minute after the first wrong key', () => {
    guessOften(1);
    now += MINUTE - 1_500;
    guessOften(WRONG_KEYS_ALLOWED - 1);
    expect(guess()).toBe(2);
    now += 1_500;
    expect(guess()).toBe('invalid_key');
  });

  it('treats all addresses of one IPv6 network as one', () => {
    for (let host = 0; host < WRONG_KEYS_ALLOWED; host++) guess(`2001:db8:0:7::${host.toString(16)}`);
    expect(guess('2001:db8:0:7:ffff::1')).toBe(60);
    expect(guess('2001:db8:0:8::1')).toBe('invalid_key');
  });
});

describe('networkOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0'],
    ['2001:DB8::5', '2001:db8:0:0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:0001::', '2001:db8:1:0'],
    ['1:2:3:4:5:6:7::', '1:2:3:4'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
  ])('returns for %j: %j', (address, network) => expect(networkOf(address)).toBe(network));
});
