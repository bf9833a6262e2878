-- Whether the countries and networks of a payout's items were found in the upstream's own lists before it was sent;
-- null where there is nothing to look up. 'unchecked': the lists could not be had.
ALTER TABLE intent ADD COLUMN coverage text CHECK (coverage IN ('checked', 'unchecked'));

-- The call for whose sake the proxy asked the upstream this by itself; null for what a client asked.
ALTER TABLE intent ADD COLUMN caused_by uuid;

-- The call that fetched this answer, where nothing was sent for this one: status and times are that call's, and so is the
-- body, which is kept there only.
ALTER TABLE outcome ADD COLUMN answer_of uuid;
