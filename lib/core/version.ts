/** The version in `package.json`, as a constant: the library reads no file. */
export const VERSION = '0.2.0'
