-- Whether the countries and networks of a payout's items were found in the upstream's own lists before it was sent.
-- Null if there is no list. 'unchecked': the lists could not be read.
ALTER TABLE intent ADD COLUMN coverage text CHECK (coverage IN ('checked', 'unchecked'));

-- The call that caused the proxy to send this one by itself. Null for a client's own call.
ALTER TABLE intent ADD COLUMN caused_by uuid;

-- The call that fetched this answer, if nothing was sent for this one. Status and times are that call's, and only that
-- call stores the body.
ALTER TABLE outcome ADD COLUMN answer_of uuid;
