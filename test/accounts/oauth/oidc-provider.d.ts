/** The part of the package that the tests use; its own types are in a package that is not installed. */
declare module 'oidc-provider' {
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): import('node:http').RequestListener
  }
}
