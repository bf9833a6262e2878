/** A statement of one payment: its mapping, its heading and its line. */
export const MAPPING = {
  upstream_ref: 'Reference ID',
  amount_usd: 'Amount',
  issued_at: 'Date',
  status: 'State',
  recipient: 'To',
};
export const HEADER = 'Reference ID,Amount,Date,State,To';
export const LINE = 'c-1,12.5,2026-11-20T10:00:00Z,paid,+254712345678';
