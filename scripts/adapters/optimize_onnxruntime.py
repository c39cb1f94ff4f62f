#!/usr/bin/env python3
"""optimize_onnxruntime: ONNX models by ONNX Runtime's rewrites, each by its name (disabled_optimizers), up to its level "extended".

The names are those of graph_transformer_utils.cc of ONNX Runtime 1.31, in its order. A name that a version does not have does nothing.
Layout rewrites of level "all" are for one processor and are left out.
"""
import optimizer

try:
    import onnx
    import onnxruntime
except ImportError as error:
    optimizer.absent(str(error))

PASSES = """EliminateIdentity EliminateSlice UnsqueezeElimination EliminateDropout ExpandElimination CastElimination PreShapeNodeElimination
NoopElimination DivMulFusion FuseReluClip GemmSumFusion GemmTransposeFusion NotWhereFusion ConvAddFusion ConvMulFusion ConvBNFusion
PadFusion MatmulBNFusion ClipQuantFusion ReluQuantFusion LabelEncoderFusion CommonSubexpressionElimination ConstantFolding
MatMulAddFusion ReshapeFusion FreeDimensionOverrideTransformer GeluFusionL1 LayerNormFusionL1 ConstantSharing CastFloat16Transformer
DoubleQDQPairsRemover QDQPropagationTransformer WeightBiasQuantization EnsureUniqueDQForNodeUnit MatmulTransposeFusion
TransposeOptimizer GemmActivationFusion MatMulIntegerToFloatFusion DynamicQuantizeMatMulFusion ConvActivationFusion GeluFusionL2
LayerNormFusionL2 SimplifiedLayerNormFusion AttentionFusion EmbedLayerNormFusion GatherSliceToSplitFusion GatherToSliceFusion
BiasDropoutFusion MatMulScaleFusion MatMulActivationFusion MatMulNBitsFusion BiasGeluFusion SkipLayerNormFusion FastGeluFusion
QuickGeluFusion BiasSoftmaxFusion ConcatSliceElimination QDQSelectorActionTransformer QDQFinalCleanupTransformer""".split()


def passes():
    return PASSES


def apply(source, target, names):
    if not names:
        onnx.save(onnx.load(source), target)
        return
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = target
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"],
                                 disabled_optimizers=[name for name in PASSES if name not in names])


if __name__ == "__main__":
    optimizer.main(passes, apply)
