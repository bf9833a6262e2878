import { createHash } from 'node:crypto';
import { Problem } from '../errors/problem';
import { KeyGuessing, networkOf, WRONG_KEYS_ALLOWED } from './key-guessing';

const hash = (key: string) => createHash('sha256').update(key).digest();
const HERE = '192.0.2.1';
const MINUTE = 60_000;
const HOUR = 3_600_000;

describe('KeyGuessing', () => {
  let now: number;
  let guessing: KeyGuessing;

  beforeEach(() => {
    now = 5_000;
    guessing = new KeyGuessing(() => now);
  });

  const guess = (times: number, address = HERE) => {
    for (let wrong = 0; wrong < times; wrong++) guessing.noteWrong(address, hash(`wrong ${wrong}`));
  };
  /** `through`, or the seconds to wait. */
  const check = (key = 'any', address = HERE) => {
    try {
      guessing.check(address, hash(key));
      return 'through';
    } catch (problem) {
      expect(problem).toMatchObject({ code: 'too_many_attempts', status: 429 });
      return (problem as Problem).retryAfter;
    }
  };

  it('shuts an address out after more wrong keys than are allowed, and no other address', () => {
    guess(WRONG_KEYS_ALLOWED);
    expect(check()).toBe('through');
    guess(1);
    expect(check()).toBe(60);
    expect(check('any', '192.0.2.2')).toBe('through');
  });

  it('lets it back in when the minute is over that began with its first wrong key', () => {
    guess(1);
    now += MINUTE - 1_500;
    guess(WRONG_KEYS_ALLOWED);
    expect(check()).toBe(2);
    now += 1_500;
    expect(check()).toBe('through');
    guess(1); // counts anew
    expect(check()).toBe('through');
  });

  it('lets those keys through that were valid within the last hour', () => {
    guessing.noteValid(hash('good'));
    now += HOUR - 1;
    guess(WRONG_KEYS_ALLOWED + 1);
    expect([check('good'), check('other')]).toEqual(['through', 60]);
    now += 1;
    expect(check('good')).toBe(60);
  });

  it('no longer lets a key through that has become wrong', () => {
    guessing.noteValid(hash('revoked'));
    guess(WRONG_KEYS_ALLOWED);
    guessing.noteWrong(HERE, hash('revoked'));
    expect(check('revoked')).toBe(60);
  });

  it('takes all addresses of one IPv6 network for one', () => {
    for (let host = 0; host <= WRONG_KEYS_ALLOWED; host++) guess(1, `2001:db8:0:7::${host.toString(16)}`);
    expect(check('any', '2001:db8:0:7:ffff::1')).toBe(60);
    expect(check('any', '2001:db8:0:8::1')).toBe('through');
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
  ])('of %j is %j', (address, network) => expect(networkOf(address)).toBe(network));
});
