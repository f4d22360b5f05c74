// Public bug reports reduced to a small input: `right` is what the default profile must do.

export async function runReport({ promptside, area }, json) {
  throw new Error(`no support for reports of ${json.area}`);
}
