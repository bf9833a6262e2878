import { Logger } from '@nestjs/common';
import { StorageService } from './storage.service';

const AN_HOUR_MS = 3_600_000;

describe('a failure of the storage', () => {
  const lines: unknown[] = [];
  let storage: StorageService;

  beforeEach(() => {
    for (const level of ['warn', 'error'] as const)
      jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((...[, line]: unknown[]) => void lines.push(line));
    lines.length = 0;
    storage = new StorageService();
  });
  afterEach(() => jest.restoreAllMocks());

  it('is logged when it begins and when it ends, however often it is seen', () => {
    for (let times = 0; times < 3; times += 1) storage.note('database', 'read_only', '25006');
    expect(storage.failures).toMatchObject([{ place: 'database', cause: 'read_only' }]);
    for (let times = 0; times < 3; times += 1) storage.lower('database', 'read_only');
    expect(storage.failures).toEqual([]);
    expect(lines).toEqual(['the database takes no writes', 'the database takes writes again']);
    expect(storage.counts).toEqual([{ place: 'database', cause: 'read_only', count: 3 }]);
  });

  it('lasts until it was not seen for a while', () => {
    storage.note('database', 'io_error', '58030');
    storage.lower('database', 'io_error', AN_HOUR_MS);
    expect(storage.has('database', 'io_error')).toBe(true);
    storage.lower('database', 'io_error', 0);
    expect(storage.has('database', 'io_error')).toBe(false);
  });

  it('has the newest detail, and does not count what was only foreseen', () => {
    storage.raise('data_dir', 'disk_full', 'Only 3 MB are free.');
    storage.raise('data_dir', 'disk_full', 'Only 2 MB are free.');
    expect(storage.failures).toEqual([
      { place: 'data_dir', cause: 'disk_full', detail: 'Only 2 MB are free.' },
    ]);
    expect(storage.counts).toMatchObject([{ count: 0 }]);
    storage.lower('data_dir', 'disk_full', AN_HOUR_MS); // nothing was seen
    expect(storage.failures).toEqual([]);
  });

  it.each([
    ['data_dir', 'io_error', true],
    ['data_dir', 'disk_full', true],
    ['database', 'disk_full', true],
    ['database', 'unreachable', false],
    ['database', 'too_many_connections', false],
  ] as const)('of %s (%s) stops all admission: %s', (place, cause, stops) => {
    storage.note(place, cause);
    expect(storage.obstacle !== undefined).toBe(stops);
  });
});
