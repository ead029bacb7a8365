/** What checks a value: the part of a Standard Schema (standardschema.dev) that is read here. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly output: Output } | undefined
    /** Standard JSON Schema: missing in schemas of valibot, which are converted. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => object } | undefined
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** What is wrong with a value, and where. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
