// Functions that people's SQL may call, in DuckDB's names. Missing on purpose: everything that reads or writes files,
// settings, variables, the environment or the catalog; everything that runs text as SQL; everything whose result can
// be of any size whatever it is given (repeat, lpad, range, format, string_agg); and what takes the product of two
// lengths (levenshtein). A list of many rows' values is as large as these together: growth.ts lets nothing grow it.

const operators = '+ - * / // % || ~~ !~~ ~~* !~~* ^@ & | -> ->>'

const aggregates = `
  count count_star count_if countif sum avg mean min max any_value first last arg_max arg_min argmax argmin max_by
  min_by median mode quantile quantile_cont quantile_disc approx_count_distinct approx_quantile stddev stddev_samp
  stddev_pop list variance var_samp var_pop bool_and bool_or corr covar_pop covar_samp`

const windows = `
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`

const texts = `
  lower upper length len strlen substring substr left right trim ltrim rtrim contains starts_with ends_with prefix
  suffix strpos position instr replace split_part reverse ascii chr md5 sha256 hash concat concat_ws regexp_matches
  regexp_full_match regexp_extract regexp_replace like_escape not_like_escape ilike_escape not_ilike_escape
  url_encode url_decode typeof`

const numbers = `
  abs ceil ceiling floor round trunc sqrt power pow exp ln log log2 log10 sign isnan isinf greatest least nullif
  ifnull`

const times = `
  now today current_date current_timestamp get_current_timestamp date_trunc datetrunc date_part datepart date_diff
  datediff date_sub datesub date_add year month day hour minute second quarter week dayofweek isodow dayofyear
  dayname monthname epoch epoch_ms epoch_us to_timestamp make_date make_timestamp strftime strptime try_strptime
  time_bucket timezone last_day age to_years to_months to_weeks to_days to_hours to_minutes to_seconds
  to_milliseconds to_microseconds to_quarters`

const structures = `
  json_extract json_extract_string json_extract_path json_extract_path_text json_exists json_type json_array_length
  json_keys json_valid json_contains list_value struct_pack row struct_extract list_extract array_extract
  list_contains array_length unnest string_split array_to_string list_has_any list_has_all list_position list_distinct
  list_reverse list_sort list_sum list_avg list_min list_max`

const allowed: ReadonlySet<string> = new Set(
  [operators, aggregates, windows, texts, numbers, times, structures].flatMap((names) =>
    names.trim().split(/\s+/),
  ),
)

export const allowedNames: Iterable<string> = allowed

/** `name` in lower case. */
export function isAllowed(name: string): boolean {
  return allowed.has(name)
}
