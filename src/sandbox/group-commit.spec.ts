import { GroupCommit } from './group-commit';

const turn = () => new Promise(setImmediate);

/** Collects the groups that are written, each until `finish` is called. */
function groupsOf(most: number) {
  const groups: number[][] = [];
  let finish = (_error?: Error) => {};
  const write = async (items: number[]) => {
    groups.push(items);
    await new Promise<void>((resolve, reject) => (finish = (error) => (error ? reject(error) : resolve())));
    return items.map((item) => item * 2);
  };
  const commit = new GroupCommit(write, { most, weightOf: (item) => item });
  return { groups, commit, finish: (error?: Error) => finish(error) };
}

describe('GroupCommit', () => {
  it('writes the first item at once, and those that arrive meanwhile together', async () => {
    const { groups, commit, finish } = groupsOf(100);
    const results = [1, 2, 3].map((item) => commit.add(item));
    expect(groups).toEqual([[1]]);
    finish();
    await turn();
    expect(groups).toEqual([[1], [2, 3]]);
    finish();
    expect(await Promise.all(results)).toEqual([2, 4, 6]);
  });

  it('limits the weight of a group, and writes a heavier item alone', async () => {
    const { groups, commit, finish } = groupsOf(5);
    const results = [1, 9, 2, 3, 4].map((item) => commit.add(item));
    for (let group = 0; group < 4; group++) {
      finish();
      await turn();
    }
    expect(groups).toEqual([[1], [9], [2, 3], [4]]);
    expect(await Promise.all(results)).toEqual([2, 18, 4, 6, 8]);
  });

  it('fails the items of a failed group, and writes the next group', async () => {
    const { commit, finish } = groupsOf(100);
    const [one, two] = [commit.add(1), commit.add(2)];
    finish(new Error('failed'));
    await expect(one).rejects.toThrow('failed');
    await turn();
    finish();
    expect(await two).toBe(4);
  });
});
