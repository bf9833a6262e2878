import { TestDatabase } from '../support/databases/test-database';

/** Records every moment of overspending, so that no check must coincide with it. */
export async function watchCaps(database: TestDatabase): Promise<void> {
  await database.query(`
    CREATE TABLE overspent (client_id uuid, day date, usd numeric);
    GRANT INSERT ON overspent TO payout_proxy;
    CREATE FUNCTION note_overspent() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO overspent SELECT NEW.client_id, NEW.day, NEW.usd FROM client
      WHERE id = NEW.client_id AND (NEW.usd > daily_cap_usd OR monthly_cap_usd < (
        SELECT sum(usd) FROM spending WHERE client_id = NEW.client_id
          AND date_trunc('month', day) = date_trunc('month', NEW.day)));
      RETURN NEW;
    END $$;
    CREATE TRIGGER note_overspent AFTER INSERT OR UPDATE ON spending
      FOR EACH ROW EXECUTE FUNCTION note_overspent();`);
}
