/** The version of the package, as `package.json` has it: the library reads no file. */
export const VERSION = '0.1.0'
