import { readException } from './no-proxy';

describe('readException', () => {
  it.each([
    ['*', 'anything.example', 443],
    ['example.com', 'example.com', 443],
    ['Example.COM', 'a.b.example.com', 443],
    ['.example.com', 'a.example.com', 443],
    ['*.example.com', 'a.example.com', 443],
    ['example.com:8443', 'a.example.com', 8_443],
    ['10.0.0.0/8', '10.1.2.3', 80],
    ['10.1.2.3', '10.1.2.3', 80],
    ['10.1.2.3:80', '10.1.2.3', 80],
    ['fd00::/8', 'fd00::1', 80],
    ['[fd00::1]:80', 'fd00::1', 80],
    ['db_1', 'db_1', 5_432],
  ])('applies %s to %s:%d', (entry, host, port) => {
    expect(readException(entry)?.(host, port)).toBe(true);
  });

  it.each([
    ['example.com', 'notexample.com', 443],
    ['a.example.com', 'example.com', 443],
    ['example.com:8443', 'example.com', 443],
    ['10.0.0.0/8', '11.0.0.1', 80],
    ['10.0.0.0/8', '10.example.com', 80],
    ['10.1.2.3:80', '10.1.2.3', 443],
    ['fd00::/8', 'fe80::1', 80],
  ])('does not apply %s to %s:%d', (entry, host, port) => {
    expect(readException(entry)?.(host, port)).toBe(false);
  });

  it.each(['http://example.com', 'exa*mple.com', '10.0.0.0/33', 'a b', 'example.com/', '[x]', ''])(
    'reads %p as no exception',
    (entry) => {
      expect(readException(entry)).toBeUndefined();
    },
  );
});
