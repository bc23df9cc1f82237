import { buildWorkspace } from '../server/workspace/build.ts'

/** The pages of the workspace into web/dist, unless what is there was made of the same sources. */
const { files } = await buildWorkspace()
console.log(`web/dist: ${files.length} files`)
