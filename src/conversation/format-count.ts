const withCommas = new Intl.NumberFormat("en-US");

/** A count in a message to people: 34,726. */
export const formatCount = (count: number): string => withCommas.format(Math.round(count));
