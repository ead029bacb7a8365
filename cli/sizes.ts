const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** A number of bytes as one reads it: `512 B`, `1.5 GiB`. */
export function readableSize(bytes: number): string {
  let power = 0
  while (power < UNITS.length - 1 && bytes / 1024 ** power >= 1023.95) power++
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`
}
