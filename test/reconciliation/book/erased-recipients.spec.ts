import { first } from '../../support/examples/first';
import { BookScene } from '../../support/reconciliation/attribution/book-scene';
import { ERASED_BATCH } from '../../support/reconciliation/attribution/example-worlds';
import { editPeople } from '../../support/records/documents';

/** A call whose answer names a batch, and whose recipients are erased, or were lost with the database. */
describe('a payout without a recipient', () => {
  let scene: BookScene;

  beforeAll(async () => {
    scene = await BookScene.begin();
  });
  afterAll(() => scene.close());

  it.each([
    ['has the transaction of its batch with its amount', 2, [0, 1]],
    ['has none of several, because another call may share the batch', 3, [0]],
  ])('%s', async (_title, rows, positions) => {
    const { account, placed: worlds } = await scene.place([ERASED_BATCH]);
    const placed = first(worlds);
    await scene.proxy.database.query(editPeople(first(placed.ids), "'[]'"));
    const listed = Array.from({ length: rows }, (_, index) => ({ placed, index }));
    await scene.enter(await scene.read(account, listed));
    const owned = await scene.proxy.database.query<{ position: number }>(
      'SELECT position FROM book_transaction WHERE call_id = ANY ($1) ORDER BY position',
      [placed.ids],
    );
    expect(owned.map(({ position }) => position)).toEqual(positions);
  });
});
