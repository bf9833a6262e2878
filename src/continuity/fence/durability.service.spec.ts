import { dangersOf } from './durability.service';

const SAFE = { fsync: 'on', fullPageWrites: 'on', synchronousCommit: 'on', synchronousStandbyNames: '' };

describe('the settings of the database', () => {
  it.each([
    ['are safe by default', {}, []],
    [
      'are safe with a standby that applies commits',
      { synchronousCommit: 'remote_apply', synchronousStandbyNames: '*' },
      [],
    ],
    ['are safe without a standby if commits are flushed locally', { synchronousCommit: 'local' }, []],
    ['are unsafe without fsync', { fsync: 'off' }, ['fsync']],
    ['are unsafe without full pages', { fullPageWrites: 'off' }, ['full_page_writes']],
    ['are unsafe if commits are not flushed', { synchronousCommit: 'off' }, ['synchronous_commit']],
    [
      'are unsafe if a standby is not waited for',
      { synchronousCommit: 'local', synchronousStandbyNames: '*' },
      ['synchronous_commit'],
    ],
    [
      'are unsafe if a standby need not flush',
      { synchronousCommit: 'remote_write', synchronousStandbyNames: '*' },
      ['synchronous_commit'],
    ],
  ])('%s', (_what, changes, dangers) => {
    expect(dangersOf({ ...SAFE, ...changes }).map(({ setting }) => setting)).toEqual(dangers);
  });
});
